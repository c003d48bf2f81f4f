package recipe;

import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.Micronaut;
import io.micronaut.runtime.server.EmbeddedServer;

public class App {

  public static void main(String[] arguments) throws Exception {
    ApplicationContext context = Micronaut.build(arguments).mainClass(App.class).banner(false).start();
    System.out.println("observed: " + context.getBean(EmbeddedServer.class).getURL() + "/prometheus");
    System.out.println("ready");
    while (System.in.read() >= 0) {
      // Waits until the test runner closes the input.
    }
    context.close();
    System.exit(7);
  }
}
