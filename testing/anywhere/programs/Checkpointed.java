import java.io.BufferedReader;
import java.io.InputStreamReader;
import jdk.crac.Core;

/** Simulates a checkpoint or a restore by CRaC when its input says so. */
public final class Checkpointed {

  private static final int EXIT_CODE = 7;

  private Checkpointed() {}

  public static void main(String[] arguments) throws Exception {
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    System.out.println("ready");
    String order = input.readLine();
    while (order != null) {
      if (order.equals("checkpoint")) {
        Core.getGlobalContext().beforeCheckpoint(Core.getGlobalContext());
      } else {
        Core.getGlobalContext().afterRestore(Core.getGlobalContext());
      }
      System.out.println("observed: " + order);
      order = input.readLine();
    }
    System.out.println("done");
    System.exit(EXIT_CODE);
  }
}
