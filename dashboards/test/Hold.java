/** Stands for an application in a container: runs until its standard input ends. */
public final class Hold {
  private Hold() {}

  public static void main(String[] arguments) throws java.io.IOException {
    while (System.in.read() >= 0) {
      // Bytes are ignored; only the end of the input matters.
    }
  }
}
