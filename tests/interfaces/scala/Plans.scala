// Trees of the operators, as a connector's rules would put them into a plan.
package org.acme

import org.acme.lake._
import org.acme.published._
import org.apache.spark.sql.catalyst.expressions.{Add, Alias, Attribute, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{Join, JoinHint, LocalRelation, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.plans.Cross

object Plans {
  def scan(table: String): LogicalPlan = LakeScan(table, Told.columns("id", "price"))
  def published(table: String): LogicalPlan = PublishedScan(table, Told.columns("id", "price"))
  def view(of: LogicalPlan): LogicalPlan = PublishedView(of, Told.columns("id", "price"))
  def moved(table: String): LogicalPlan = MovedScan(table, Told.columns("id", "price"))

  def enriched(table: String, child: LogicalPlan): LogicalPlan = Enriched(table, Told.columns("id", "price"), child)

  /** The id of one of two sides, the sum of both prices or a number. */
  def merge(source: LogicalPlan, target: LogicalPlan): LogicalPlan = {
    val Seq(id, price) = source.output
    val Seq(oldId, oldPrice) = target.output
    val matched = Seq(Seq(Seq[Expression](oldId, Add(price, oldPrice))))
    val notMatched = Seq(Seq[Expression](id, Literal(0)))
    MergeRows(matched, notMatched, Told.columns("id", "price"), Join(target, source, Cross, None, JoinHint.NONE))
  }

  def replace(table: LogicalPlan, query: LogicalPlan): LogicalPlan = ReplaceLakeData(table, query)
  def push(target: String, query: LogicalPlan): LogicalPlan = PushToLake(target, query)
  def hostile(how: String, child: LogicalPlan): LogicalPlan = Hostile(how, child)
  def orphan(child: LogicalPlan): LogicalPlan = Orphan(child)
  def namesake(child: LogicalPlan): LogicalPlan = com.acme.Join(child, Told.columns("made").head)
  def loops(child: LogicalPlan): LogicalPlan = Loops(child)

  /** Nanoseconds that it takes to see of each operator whether it tells of itself, at best of several times. */
  def nanoseconds(plan: LogicalPlan, loader: ClassLoader): Long = {
    val ask = loader.loadClass("headwater.InterfaceCall").getMethod("ask", classOf[Object], classOf[Object], classOf[Object], java.lang.Long.TYPE)
    val most = java.lang.Long.valueOf(3000)
    (1 to 200).map { _ =>
      val begun = System.nanoTime()
      plan.foreach(node => ask.invoke(null, node, null, null, most))
      System.nanoTime() - begun
    }.min
  }

  def masked(text: String, loader: ClassLoader): String =
    loader.loadClass("headwater.JsonSecrets").getMethod("masked", classOf[String]).invoke(null, text).asInstanceOf[String]

  def nothing: LogicalPlan = LocalRelation(Told.columns("id"))

  /** As many operators, one upon the other. */
  def tower(height: Int, base: LogicalPlan): LogicalPlan =
    (1 to height).foldLeft(base) { (below, _) => Project(below.output, below) }
}
