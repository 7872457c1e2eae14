// A catalog in memory whose tables have the properties that they are made with.
package org.acme.catalog

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.analysis.{NoSuchTableException, TableAlreadyExistsException}
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read.{Scan, ScanBuilder, V1Scan}
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, SupportsTruncate, V1Write, Write, WriteBuilder}
import org.apache.spark.sql.{DataFrame, Row, SQLContext}
import org.apache.spark.sql.sources.{BaseRelation, InsertableRelation, TableScan}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

class LakeTable(override val name: String, override val schema: StructType, override val properties: java.util.Map[String, String])
    extends Table with SupportsRead with SupportsWrite {
  override def capabilities: java.util.Set[TableCapability] =
    java.util.Set.of(TableCapability.BATCH_READ, TableCapability.V1_BATCH_WRITE, TableCapability.TRUNCATE)
  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = new ScanBuilder {
    override def build(): Scan = new V1Scan {
      override def readSchema(): StructType = LakeTable.this.schema
      override def toV1TableScan[T <: BaseRelation with TableScan](context: SQLContext): T = new BaseRelation with TableScan {
        override def sqlContext: SQLContext = context
        override def schema: StructType = LakeTable.this.schema
        override def buildScan(): RDD[Row] = context.sparkContext.emptyRDD[Row]
      }.asInstanceOf[T]
    }
  }
  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = new WriteBuilder with SupportsTruncate {
    override def truncate(): WriteBuilder = this
    override def build(): Write = new V1Write {
      override def toInsertableRelation: InsertableRelation = new InsertableRelation {
        override def insert(data: DataFrame, overwrite: Boolean): Unit = data.collect()
      }
    }
  }
}

class LakeCatalog extends TableCatalog {
  private val tables = mutable.Map[Identifier, Table]()
  private var called = ""
  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = called = name
  override def name(): String = called
  override def listTables(namespace: Array[String]): Array[Identifier] = tables.keys.toArray
  override def loadTable(identifier: Identifier): Table = tables.getOrElse(identifier, throw new NoSuchTableException(identifier))
  override def createTable(identifier: Identifier, schema: StructType, partitions: Array[Transform], properties: java.util.Map[String, String]): Table = {
    if (tables.contains(identifier)) throw new TableAlreadyExistsException(identifier)
    val made = new LakeTable(identifier.toString, schema, properties)
    tables(identifier) = made
    made
  }
  override def alterTable(identifier: Identifier, changes: TableChange*): Table = loadTable(identifier)
  override def dropTable(identifier: Identifier): Boolean = tables.remove(identifier).isDefined
  override def renameTable(from: Identifier, to: Identifier): Unit = tables(to) = tables.remove(from).get
}
