// Operators as connectors have them, telling of themselves by the Scala traits.
package org.acme.lake

import io.openlineage.spark.builtin.scala.v1._
import io.openlineage.spark.shade.client.OpenLineage
import io.openlineage.spark.shade.client.utils.DatasetIdentifier
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, Project, UnaryNode}
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.types.{IntegerType, StringType}

object Told {
  def name(table: String) = new DatasetIdentifier(table, "lake://acme")
  def id(attribute: Attribute) = OlExprId(attribute.exprId.id)
  def noFacets = new OpenLineage.DatasetFacetsBuilder()
  def noInputFacets = new OpenLineage.InputDatasetInputFacetsBuilder()
  def noOutputFacets = new OpenLineage.OutputDatasetOutputFacetsBuilder()
  def columns(names: String*): Seq[Attribute] = names.map(name => AttributeReference(name, IntegerType)())
}
import Told._

/** A relation of a class that nobody knows, by a name and with facets. */
case class LakeScan(table: String, output: Seq[Attribute]) extends LeafNode with InputLineageNode with ColumnLevelLineageNode {
  override def getInputs(context: OpenLineageContext): List[InputDatasetWithFacets] = {
    val facets = noFacets
      .version(context.openLineage.newDatasetVersionDatasetFacet("v7"))
      .put("acme", context.openLineage.newDatasetFacet())
    val counted = noInputFacets.dataQualityMetrics(context.openLineage.newDataQualityMetricsInputDatasetFacetBuilder().rowCount(3L).build())
    List(InputDatasetWithIdentifier(name(table).withSymlink("db." + table, "hive://acme", DatasetIdentifier.SymlinkType.TABLE), facets, counted))
  }
  override def columnLevelLineageInputs(context: OpenLineageContext): List[DatasetFieldLineage] =
    output.map(a => InputDatasetFieldWithIdentifier(name(table), "stored_" + a.name, id(a))).toList
}

/** As MergeRows of Iceberg's extension for Spark 3.4 does it. */
case class MergeRows(matchedOutputs: Seq[Seq[Seq[Expression]]], notMatchedOutputs: Seq[Seq[Expression]], output: Seq[Attribute], child: LogicalPlan)
    extends UnaryNode with ColumnLevelLineageNode {
  override def columnLevelLineageDependencies(context: OpenLineageContext): List[ExpressionDependency] =
    output.zipWithIndex.flatMap { case (attribute, at) =>
      (notMatchedOutputs ++ matchedOutputs.flatten).filter(_.size > at).map(row => ExpressionDependencyWithDelegate(id(attribute), row(at)))
    }.toList
  override def columnLevelLineageInputs(context: OpenLineageContext): List[DatasetFieldLineage] = List(InputDatasetFieldFromDelegate(child))
  override def columnLevelLineageOutputs(context: OpenLineageContext): List[DatasetFieldLineage] = output.map(a => OutputDatasetField(a.name, id(a))).toList
  @transient override lazy val references: AttributeSet = child.outputSet
  override protected def withNewChildInternal(newChild: LogicalPlan): MergeRows = copy(child = newChild)
}

/** As ReplaceIcebergData: the relation that is written is a delegate, and is in no other part of the plan. */
case class ReplaceLakeData(table: LogicalPlan, query: LogicalPlan) extends LeafRunnableCommand with OutputLineageNode with ColumnLevelLineageNode {
  override def run(session: SparkSession): Seq[Row] = Seq.empty
  override def getOutputs(context: OpenLineageContext): List[OutputDatasetWithFacets] = {
    val change = OpenLineage.LifecycleStateChangeDatasetFacet.LifecycleStateChange.OVERWRITE
    val facets = noFacets.lifecycleStateChange(context.openLineage.newLifecycleStateChangeDatasetFacet(change, null))
    val written = noOutputFacets.outputStatistics(context.openLineage.newOutputStatisticsOutputDatasetFacetBuilder().rowCount(5L).build())
    List(OutputDatasetWithDelegate(table, facets, written))
  }
  override def columnLevelLineageInputs(context: OpenLineageContext): List[DatasetFieldLineage] =
    List(InputDatasetFieldFromDelegate(query), InputDatasetFieldFromDelegate(table))
  override def columnLevelLineageOutputs(context: OpenLineageContext): List[DatasetFieldLineage] = table.output.map(a => OutputDatasetField(a.name, id(a))).toList
  override def columnLevelLineageDependencies(context: OpenLineageContext): List[ExpressionDependency] =
    query.output.zip(table.output).map { case (input, output) => ExpressionDependencyWithIdentifier(id(output), List(id(input))) }.toList
}

/** Writes to a dataset that no node of a plan stands for, the columns of its query as they are. */
case class PushToLake(target: String, query: LogicalPlan) extends LeafRunnableCommand with OutputLineageNode {
  override def run(session: SparkSession): Seq[Row] = Seq.empty
  override def getOutputs(context: OpenLineageContext): List[OutputDatasetWithFacets] =
    List(OutputDatasetWithIdentifier(name(target), noFacets, noOutputFacets))
}

/** Each way of being a bad neighbour, by name. */
case class Hostile(how: String, child: LogicalPlan) extends UnaryNode with InputLineageNode with ColumnLevelLineageNode {
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(newChild: LogicalPlan): Hostile = copy(child = newChild)
  override def getInputs(context: OpenLineageContext): List[InputDatasetWithFacets] = how match {
    case "throws" => throw new IllegalStateException("password='hunter2' is wrong")
    case "dies" => throw new NoClassDefFoundError("com/vendor/Missing")
    case "overflows" => getInputs(context)
    case "null" => null
    case "nulls" => List(null)
    case "strings" => List("lake").asInstanceOf[List[InputDatasetWithFacets]]
    case "a number" => Integer.valueOf(3).asInstanceOf[List[InputDatasetWithFacets]]
    case "no name" => List(InputDatasetWithIdentifier(new DatasetIdentifier(null, "lake://acme"), noFacets, noInputFacets))
    case "empty name" => List(InputDatasetWithIdentifier(new DatasetIdentifier("", "lake://acme"), noFacets, noInputFacets))
    case "long name" => List(InputDatasetWithIdentifier(name("x" * 100000), noFacets, noInputFacets))
    case "no dataset" => List(InputDatasetWithIdentifier(null, null, null))
    case "no node" => List(InputDatasetWithDelegate("a text", noFacets, noInputFacets))
    case "itself" => List(InputDatasetWithDelegate(this, noFacets, noInputFacets))
    case "around itself" => List(InputDatasetWithDelegate(Project(output, this), noFacets, noInputFacets))
    case "an expression" => List(InputDatasetWithDelegate(output.head, noFacets, noInputFacets))
    case "endless" => LazyEndless.list
    case "large facets" => List(InputDatasetWithIdentifier(name("t"), noFacets.documentation(context.openLineage.newDocumentationDatasetFacetBuilder().description("x" * 1000000).build()), noInputFacets))
    case "secret" => List(InputDatasetWithIdentifier(new DatasetIdentifier("t", "jdbc:postgresql://u:hunter2@host:1/db"), noFacets, noInputFacets))
    case "secret facets" =>
      val described = noFacets.documentation(context.openLineage.newDocumentationDatasetFacetBuilder().description("at https://me:hunter2@host/x?token=hunter2 or jdbc:postgresql://me:hunter2@db/x").build())
        .dataSource(context.openLineage.newDatasourceDatasetFacet("lake", java.net.URI.create("mongodb://me:hunter2@db:27017/x")))
        .schema(context.openLineage.newSchemaDatasetFacetBuilder().fields(java.util.Arrays.asList(
          context.openLineage.newSchemaDatasetFacetFieldsBuilder().name("access_token").`type`("struct<token:string>").build())).build())
      List(InputDatasetWithIdentifier(name("t"), described, noInputFacets))
    case "secret reason" => throw new java.io.IOException("no https://me:hunter2@host/x?token=hunter2&a=1 with password=hunter2")
    case _ => List()
  }
  override def columnLevelLineageDependencies(context: OpenLineageContext): List[ExpressionDependency] = how match {
    case "strange dependency" => List(ExpressionDependencyWithDelegate(id(output.head), "a text"))
    case "dependency on itself" => List(ExpressionDependencyWithDelegate(id(output.head), this))
    case "unknown dependency" => List(ExpressionDependencyWithIdentifier(id(output.head), List(OlExprId(-7L))))
    case "endless dependency" => List(ExpressionDependencyWithIdentifier(id(output.head), List.fill(20000)(id(child.output.head))))
    case "null dependency" => List(ExpressionDependencyWithIdentifier(null, null))
    case _ => List()
  }
}

/** Of an interface that was compiled with a class that is nowhere any more. */
case class Orphan(child: LogicalPlan) extends UnaryNode with com.vendor.openlineage.v1.InputLineageNode {
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(newChild: LogicalPlan): Orphan = copy(child = newChild)
  override def getInputs(context: com.vendor.gone.Context): List[AnyRef] = List()
}

object LazyEndless {
  def list: List[InputDatasetWithFacets] = Iterator.continually(InputDatasetWithIdentifier(name("t"), noFacets, noInputFacets)).take(50000).toList
}

/** Does not answer, and does not listen when it is told to stop. A class of its own, because it is not asked twice. */
case class Loops(child: LogicalPlan) extends UnaryNode with InputLineageNode {
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(newChild: LogicalPlan): Loops = copy(child = newChild)
  override def getInputs(context: OpenLineageContext): List[InputDatasetWithFacets] = {
    val end = System.nanoTime() + 60000000000L
    while (System.nanoTime() < end) try Thread.sleep(100) catch { case _: InterruptedException => }
    List()
  }
}
