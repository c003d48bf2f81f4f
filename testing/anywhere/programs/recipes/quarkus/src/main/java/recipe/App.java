package recipe;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.annotations.QuarkusMain;

@QuarkusMain
public class App implements QuarkusApplication {

  public static void main(String[] arguments) {
    Quarkus.run(App.class, arguments);
  }

  @Override
  public int run(String... arguments) throws Exception {
    System.out.println("ready");
    while (System.in.read() >= 0) {
      // Waits until the test runner closes the input.
    }
    return 7;
  }
}
