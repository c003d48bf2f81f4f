import io.mallometer.Mallometer;
import io.mallometer.model.Status;
import java.io.IOException;

/** A program that opens a Mallometer if its argument is "open", and prints the status in a line of its own. */
public final class Bridge {

  private Bridge() {}

  public static void main(String[] arguments) throws IOException {
    if (arguments.length > 0 && arguments[0].equals("open")) {
      Status status = Mallometer.open().status();
      System.err.println("mallometer: " + status);
    }
    System.out.println("ready");
    while (System.in.read() >= 0) {
      // Waits until the test runner closes the input.
    }
    System.exit(7);
  }
}
