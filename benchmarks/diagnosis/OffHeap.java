import java.lang.reflect.Field;
import sun.misc.Unsafe;

/** Memory of malloc through Unsafe. */
final class OffHeap {
  static final Unsafe UNSAFE = unsafe();

  private OffHeap() {}

  private static Unsafe unsafe() {
    try {
      Field field = Unsafe.class.getDeclaredField("theUnsafe");
      field.setAccessible(true);
      return (Unsafe) field.get(null);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }
}
