// The Java interfaces of io.openlineage.spark.extension.v1 for columns, which no jar here has: a context, beans and lists of Java.
package io.openlineage.spark.extension.v1

import io.openlineage.spark.shade.client.OpenLineage
import io.openlineage.spark.shade.client.utils.DatasetIdentifier

trait OpenLineageExtensionContext {
  def getOpenLineage: OpenLineage
  def getSparkListenerEventName: String
}

class OlExprId(id: java.lang.Long) { def getExprId: java.lang.Long = id }

trait DatasetFieldLineage
class InputDatasetFieldWithIdentifier(dataset: DatasetIdentifier, field: String, id: OlExprId) extends DatasetFieldLineage {
  def getDatasetIdentifier: DatasetIdentifier = dataset
  def getField: String = field
  def getExprId: OlExprId = id
}

trait ExpressionDependency { def getOutputExprId: OlExprId }
class ExpressionDependencyWithIdentifier(output: OlExprId, inputs: java.util.List[OlExprId]) extends ExpressionDependency {
  def getOutputExprId: OlExprId = output
  def getInputExprIds: java.util.List[OlExprId] = inputs
}

trait ColumnLevelLineageNode {
  def getColumnLevelLineageInputs(context: OpenLineageExtensionContext): java.util.List[DatasetFieldLineage]
  def getColumnLevelLineageOutputs(context: OpenLineageExtensionContext): java.util.List[DatasetFieldLineage]
  def getColumnLevelLineageDependencies(context: OpenLineageExtensionContext): java.util.List[ExpressionDependency]
}
