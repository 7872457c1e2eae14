// The same by the Java interfaces of the published jar, and by copies that a vendor moved to a package of its own.
package org.acme.published

import io.openlineage.spark.builtin.scala.v1.{LineageDatasetProvider, OpenLineageContext}
import io.openlineage.spark.extension.{v1 => beans}
import io.openlineage.spark.shade.client.OpenLineage
import io.openlineage.spark.shade.client.utils.DatasetIdentifier
import io.openlineage.spark.shade.extension.{v1 => ol}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{DataFrame, Row, SQLContext, SaveMode}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, UnaryNode}
import org.apache.spark.sql.sources.{BaseRelation, CreatableRelationProvider, RelationProvider, TableScan}
import org.apache.spark.sql.types.StructType
import com.vendor.shaded.io.openlineage.spark.extension.scala.{v1 => moved}

case class PublishedScan(table: String, output: Seq[Attribute]) extends LeafNode with ol.InputLineageNode {
  override def getInputs(event: String, openLineage: OpenLineage): java.util.List[ol.InputDatasetWithFacets] = {
    val facets = new OpenLineage.DatasetFacetsBuilder().documentation(openLineage.newDocumentationDatasetFacetBuilder().description("told at " + event.split('.').last).build())
    java.util.Collections.singletonList(new ol.InputDatasetWithIdentifier(new DatasetIdentifier(table, "lake://published"), facets, new OpenLineage.InputDatasetInputFacetsBuilder()))
  }
}

/** Stands for what another operator reads, which is in no other part of the plan. */
case class PublishedView(of: LogicalPlan, output: Seq[Attribute]) extends LeafNode with ol.InputLineageNode {
  override def getInputs(event: String, openLineage: OpenLineage): java.util.List[ol.InputDatasetWithFacets] =
    java.util.Collections.singletonList(new ol.InputDatasetWithDelegate(of, new OpenLineage.DatasetFacetsBuilder(), new OpenLineage.InputDatasetInputFacetsBuilder()))
}

case class MovedScan(table: String, output: Seq[Attribute]) extends LeafNode with moved.InputLineageNode {
  override def getInputs(context: moved.OpenLineageExtensionContext): List[moved.InputDatasetWithFacets] =
    List(moved.InputDatasetWithIdentifier(
      new DatasetIdentifier(table + "@" + context.sparkListenerEventName.split('.').last, "lake://moved"),
      new OpenLineage.DatasetFacetsBuilder(), new OpenLineage.InputDatasetInputFacetsBuilder()))
}

/** A join with a table that it reads itself: each column of it is made of one of the child and of one of the table. */
case class Enriched(table: String, output: Seq[Attribute], child: LogicalPlan) extends UnaryNode with beans.ColumnLevelLineageNode {
  private def id(number: Long) = new beans.OlExprId(number)
  override def getColumnLevelLineageInputs(context: beans.OpenLineageExtensionContext): java.util.List[beans.DatasetFieldLineage] =
    java.util.Collections.singletonList(new beans.InputDatasetFieldWithIdentifier(new DatasetIdentifier(table, "lake://beans"), "rate", id(-100L)))
  override def getColumnLevelLineageOutputs(context: beans.OpenLineageExtensionContext): java.util.List[beans.DatasetFieldLineage] = java.util.Collections.emptyList()
  override def getColumnLevelLineageDependencies(context: beans.OpenLineageExtensionContext): java.util.List[beans.ExpressionDependency] = {
    require(context.getOpenLineage != null && context.getSparkListenerEventName.nonEmpty)
    val found = new java.util.ArrayList[beans.ExpressionDependency]()
    output.zip(child.output).foreach { case (made, below) =>
      found.add(new beans.ExpressionDependencyWithIdentifier(id(made.exprId.id), java.util.Arrays.asList(id(below.exprId.id), id(-100L))))
    }
    found
  }
  @transient override lazy val references = child.outputSet
  override protected def withNewChildInternal(newChild: LogicalPlan): Enriched = copy(child = newChild)
}

/** The provider's interface by its former name. */
class FormerSource extends CreatableRelationProvider with LineageDatasetProvider {
  override def createRelation(context: SQLContext, mode: SaveMode, options: Map[String, String], data: DataFrame): BaseRelation =
    new LakeRelation(context, options("name"))
  override def getLineageDatasetIdentifier(context: OpenLineageContext, sqlContext: Object, options: Object): DatasetIdentifier =
    new DatasetIdentifier(options.asInstanceOf[scala.collection.Map[String, String]]("name"), "lake://former")
}

class LakeRelation(val sqlContext: SQLContext, table: String) extends BaseRelation with TableScan with ol.LineageRelation {
  override def schema: StructType = StructType.fromDDL("id INT, price INT")
  override def buildScan(): RDD[Row] = sqlContext.sparkContext.emptyRDD[Row]
  override def getLineageDatasetIdentifier(event: String, openLineage: OpenLineage): DatasetIdentifier = new DatasetIdentifier(table, "lake://relation")
}

/** Reads and writes by the v1 API: of a write only the provider is in the plan. */
class LakeSource extends RelationProvider with CreatableRelationProvider with ol.LineageRelationProvider {
  override def createRelation(context: SQLContext, options: Map[String, String]): BaseRelation = new LakeRelation(context, options("name"))
  override def createRelation(context: SQLContext, mode: SaveMode, options: Map[String, String], data: DataFrame): BaseRelation = createRelation(context, options)
  override def getLineageDatasetIdentifier(event: String, openLineage: OpenLineage, context: Object, options: Object): DatasetIdentifier = {
    require(context.isInstanceOf[SQLContext])
    new DatasetIdentifier(options.asInstanceOf[scala.collection.Map[String, String]]("name"), "lake://provider")
  }
}
