package io.mallometer.internal.pool;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;

/**
 * A program that uses one copy of Netty. The program calls Netty by reflection, because the package
 * of the copy may have any name.
 */
public final class NettyUse {

  private final String packageName;
  private final Object allocator;
  private final List<Object> kept = new ArrayList<>();

  public NettyUse(String packageName, String kind) throws ReflectiveOperationException {
    this.packageName = packageName;
    Class<?> type =
        Class.forName(
            packageName
                + (kind.equals("pooled")
                    ? ".buffer.PooledByteBufAllocator"
                    : ".buffer.AdaptiveByteBufAllocator"));
    this.allocator =
        kind.equals("pooled")
            ? type.getField("DEFAULT").get(null)
            : type.getConstructor().newInstance();
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  public void level(String name) throws ReflectiveOperationException {
    Class<?> detector = Class.forName(packageName + ".util.ResourceLeakDetector");
    Class<Enum> level = (Class<Enum>) Class.forName(detector.getName() + "$Level");
    detector.getMethod("setLevel", level).invoke(null, Enum.valueOf(level, name));
  }

  public void keep(int count, int bytes) throws ReflectiveOperationException {
    Method allocate = method(allocator, "directBuffer", int.class);
    for (int i = 0; i < count; i++) {
      kept.add(allocate.invoke(allocator, bytes));
    }
  }

  public void keepOnHeap(int count, int bytes) throws ReflectiveOperationException {
    for (int i = 0; i < count; i++) {
      kept.add(method(allocator, "heapBuffer", int.class).invoke(allocator, bytes));
    }
  }

  public void release(int count) throws ReflectiveOperationException {
    for (int i = 0; i < count; i++) {
      Object buffer = kept.remove(0);
      method(buffer, "release").invoke(buffer);
    }
  }

  public void forget() {
    kept.clear();
  }

  public long usedDirectMemory() throws ReflectiveOperationException {
    Object metric = method(allocator, "metric").invoke(allocator);
    return (long) method(metric, "usedDirectMemory").invoke(metric);
  }

  /** Returns the number of native chunks and the used bytes in them, by Netty's own metrics. */
  public long[] chunksAndUse() throws ReflectiveOperationException {
    long count = 0;
    long used = 0;
    Object metric = method(allocator, "metric").invoke(allocator);
    for (Object arena : (Iterable<?>) method(metric, "directArenas").invoke(metric)) {
      for (Object list : (Iterable<?>) method(arena, "chunkLists").invoke(arena)) {
        for (Object chunk : (Iterable<?>) list) {
          count++;
          used += (int) method(chunk, "chunkSize").invoke(chunk);
          used -= (int) method(chunk, "freeBytes").invoke(chunk);
        }
      }
    }
    return new long[] {count, used};
  }

  /** Returns the native bytes of live buffers, without the bytes that threads cache. */
  public long pinnedDirectMemory() throws ReflectiveOperationException {
    return (long) method(allocator, "pinnedDirectMemory").invoke(allocator);
  }

  /**
   * Returns a declaration of the method in a public type, because a method of a class that is not
   * public cannot be called by reflection.
   */
  private static Method method(Object target, String name, Class<?>... parameters)
      throws NoSuchMethodException {
    Method found = find(target.getClass(), name, parameters);
    if (found == null) {
      throw new NoSuchMethodException(target.getClass() + "." + name);
    }
    return found;
  }

  private static Method find(Class<?> type, String name, Class<?>... parameters) {
    if (type == null) {
      return null;
    }
    if (Modifier.isPublic(type.getModifiers())) {
      try {
        Method method = type.getMethod(name, parameters);
        if (Modifier.isPublic(method.getDeclaringClass().getModifiers())) {
          return method;
        }
      } catch (NoSuchMethodException e) {
        // A superclass or an interface may declare the method.
      }
    }
    Method found = find(type.getSuperclass(), name, parameters);
    for (Class<?> face : type.getInterfaces()) {
      found = found == null ? find(face, name, parameters) : found;
    }
    return found;
  }
}
