// The traits of OpenLineage's spark-interfaces-scala, which is published only as a part of other jars.
// The tests compile them under the package that OpenLineage gave them, and under one of a vendor who moved them.
package PACKAGE

import io.openlineage.spark.shade.client.OpenLineage
import io.openlineage.spark.shade.client.OpenLineage.{DatasetFacetsBuilder, InputDatasetInputFacetsBuilder, OutputDatasetOutputFacetsBuilder}
import io.openlineage.spark.shade.client.utils.DatasetIdentifier

trait CONTEXT {
  def openLineage: OpenLineage
  def sparkListenerEventName: String
}

trait InputLineageNode { def getInputs(context: CONTEXT): List[InputDatasetWithFacets] }
trait OutputLineageNode { def getOutputs(context: CONTEXT): List[OutputDatasetWithFacets] }
trait LineageRelation { def getLineageDatasetIdentifier(context: CONTEXT): DatasetIdentifier }
trait LineageDatasetProvider {
  def getLineageDatasetIdentifier(context: CONTEXT, sqlContext: Object, parameters: Object): DatasetIdentifier
}

sealed trait InputDatasetWithFacets {
  def facetsBuilder: DatasetFacetsBuilder
  def inputFacetsBuilder: InputDatasetInputFacetsBuilder
}
case class InputDatasetWithIdentifier(
    datasetIdentifier: DatasetIdentifier, facetsBuilder: DatasetFacetsBuilder, inputFacetsBuilder: InputDatasetInputFacetsBuilder)
    extends InputDatasetWithFacets
case class InputDatasetWithDelegate(
    node: Object, facetsBuilder: DatasetFacetsBuilder, inputFacetsBuilder: InputDatasetInputFacetsBuilder)
    extends InputDatasetWithFacets

sealed trait OutputDatasetWithFacets {
  def facetsBuilder: DatasetFacetsBuilder
  def outputFacetsBuilder: OutputDatasetOutputFacetsBuilder
}
case class OutputDatasetWithIdentifier(
    datasetIdentifier: DatasetIdentifier, facetsBuilder: DatasetFacetsBuilder, outputFacetsBuilder: OutputDatasetOutputFacetsBuilder)
    extends OutputDatasetWithFacets
case class OutputDatasetWithDelegate(
    node: Object, facetsBuilder: DatasetFacetsBuilder, outputFacetsBuilder: OutputDatasetOutputFacetsBuilder)
    extends OutputDatasetWithFacets

trait ColumnLevelLineageNode {
  def columnLevelLineageInputs(context: CONTEXT): List[DatasetFieldLineage] = List()
  def columnLevelLineageOutputs(context: CONTEXT): List[DatasetFieldLineage] = List()
  def columnLevelLineageDependencies(context: CONTEXT): List[ExpressionDependency] = List()
}

case class OlExprId(exprId: Long)

sealed trait DatasetFieldLineage
case class OutputDatasetField(field: String, exprId: OlExprId) extends DatasetFieldLineage
case class InputDatasetFieldWithIdentifier(datasetIdentifier: DatasetIdentifier, field: String, exprId: OlExprId) extends DatasetFieldLineage
case class InputDatasetFieldFromDelegate(delegate: Object) extends DatasetFieldLineage

sealed trait ExpressionDependency { def outputExprId: OlExprId }
case class ExpressionDependencyWithDelegate(outputExprId: OlExprId, expression: Object) extends ExpressionDependency
case class ExpressionDependencyWithIdentifier(outputExprId: OlExprId, inputExprIds: List[OlExprId]) extends ExpressionDependency
