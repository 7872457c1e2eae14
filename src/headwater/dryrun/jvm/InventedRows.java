package headwater.dryrun;

import java.lang.reflect.Constructor;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.*;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.Iterator;
import scala.collection.immutable.List;
import scala.collection.immutable.Nil$;

/** Relations in the place of others: without rows, or with values of each type where Spark goes no further without. */
public class InventedRows {
  private static final int SOME_DAY = 18262; // 2020-01-01
  private static final String MLLIB = "org.apache.spark.ml";

  static LocalRelation relation(LogicalPlan node, int rows) {
    List data = (List) Nil$.MODULE$;
    if (needsForeign(node)) rows = 0;
    for (int i = rows - 1; i >= 0; i--) data = data.$colon$colon(row(node, i));
    try {
      Constructor constructor = LocalRelation.class.getConstructors()[0];
      Object[] values = new Object[constructor.getParameterTypes().length];
      Object[] first = new Object[] {node.output(), data, Boolean.valueOf(node.isStreaming())};
      for (int i = 0; i < values.length; i++) values[i] = i < first.length ? first[i] : scala.None$.MODULE$;
      return (LocalRelation) constructor.newInstance(values);
    } catch (Exception unlike) { throw new IllegalStateException("This Spark has another LocalRelation than is known", unlike); }
  }

  private static GenericInternalRow row(LogicalPlan node, int number) {
    Object[] values = new Object[node.output().size()];
    Iterator columns = node.output().iterator();
    for (int i = 0; i < values.length; i++) values[i] = value(((Attribute) columns.next()).dataType(), number);
    return new GenericInternalRow(values);
  }

  /** Whether a type is of a library, which alone knows the bytes of a value: a shape of Sedona's, say. */
  private static boolean isForeign(DataType type) { return type instanceof UserDefinedType && !type.getClass().getName().startsWith(MLLIB); }

  /** Whether there is no row without such a value. */
  private static boolean needsForeign(LogicalPlan node) {
    Iterator columns = node.output().iterator();
    while (columns.hasNext()) {
      Attribute column = (Attribute) columns.next();
      if (isForeign(column.dataType()) && !column.nullable()) return true;
    }
    return false;
  }

  /** A value in the form that Spark has inside; null of types that have none here. */
  private static Object value(DataType type, int number) {
    if (type instanceof StringType) return UTF8String.fromString(String.valueOf((char) ('a' + number)));
    if (type instanceof IntegerType) return Integer.valueOf(number + 1);
    if (type instanceof LongType) return Long.valueOf(number + 1);
    if (type instanceof ShortType) return Short.valueOf((short) (number + 1));
    if (type instanceof ByteType) return Byte.valueOf((byte) (number + 1));
    if (type instanceof DoubleType) return Double.valueOf(number + 1.5);
    if (type instanceof FloatType) return Float.valueOf(number + 1.5f);
    if (type instanceof BooleanType) return Boolean.valueOf(number % 2 == 0);
    if (type instanceof DateType) return Integer.valueOf(SOME_DAY + number);
    if (type instanceof TimestampType || type instanceof TimestampNTZType) return Long.valueOf((SOME_DAY + number) * 86400000000L + 1);
    if (type instanceof ArrayType) return new GenericArrayData(new Object[] {value(((ArrayType) type).elementType(), number)});
    if (type instanceof MapType) return new ArrayBasedMapData(new GenericArrayData(new Object[] {value(((MapType) type).keyType(), number)}), new GenericArrayData(new Object[] {value(((MapType) type).valueType(), number)}));
    if (type instanceof StructType) return struct((StructType) type, number);
    if (isForeign(type)) return null;
    try { return ((Literal) Literal.class.getMethod("default", new Class[] {DataType.class}).invoke(null, new Object[] {type})).value(); } catch (Exception without) { return null; }
  }

  private static GenericInternalRow struct(StructType type, int number) {
    Object[] values = new Object[type.size()];
    for (int i = 0; i < values.length; i++) values[i] = value(type.fields()[i].dataType(), number);
    return new GenericInternalRow(values);
  }
}
