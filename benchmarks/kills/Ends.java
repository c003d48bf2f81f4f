import java.lang.reflect.Field;

/** Ends, or waits for its end, after some seconds: {@code Ends HOW REST_SECONDS}. */
final class Ends {

  private Ends() {}

  public static void main(String[] arguments) throws Exception {
    Thread.sleep((long) (Double.parseDouble(arguments[1]) * 1000));
    switch (arguments[0]) {
      case "return" -> System.out.println("main ends");
      case "exit3" -> System.exit(3);
      case "crash" -> unsafe().putByte(8, (byte) 1);
      case "child" -> {
        new ProcessBuilder("sh", "-c", "x=0123456789abcdef; while :; do x=$x$x; done").start().waitFor();
        Thread.sleep(2_000);
        System.exit(0);
      }
      default -> Thread.sleep(60_000);
    }
  }

  private static sun.misc.Unsafe unsafe() throws ReflectiveOperationException {
    Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
    field.setAccessible(true);
    return (sun.misc.Unsafe) field.get(null);
  }
}
