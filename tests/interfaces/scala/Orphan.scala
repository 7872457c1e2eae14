// An interface whose jar needs another one, which is missing: its class is deleted once all is compiled.
package com.vendor.gone {
  class Context
}

package com.vendor.openlineage.v1 {
  trait InputLineageNode {
    def getInputs(context: com.vendor.gone.Context): List[AnyRef]
  }
}

package com.acme {
  import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}
  import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

  /** Is called as one of Spark's own is, and has other columns than its child. */
  case class Join(child: LogicalPlan, made: Attribute) extends UnaryNode {
    override def output: Seq[Attribute] = child.output :+ made
    override def producedAttributes: AttributeSet = AttributeSet(made)
    override protected def withNewChildInternal(newChild: LogicalPlan): Join = copy(child = newChild)
  }
}
