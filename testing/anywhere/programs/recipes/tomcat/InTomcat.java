import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.catalina.Lifecycle;
import org.apache.catalina.LifecycleEvent;
import org.apache.catalina.LifecycleListener;

/**
 * Runs the commands on standard input within a Tomcat: "observe" prints the port and the MBeans, "undeploy NAME"
 * deletes the file of a web application. Stops Tomcat when the input ends.
 */
public final class InTomcat implements LifecycleListener {

  private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

  @Override
  public void lifecycleEvent(LifecycleEvent event) {
    if (event.getType().equals(Lifecycle.AFTER_START_EVENT)) {
      System.out.println("ready");
      new Thread(InTomcat::obey, "obey").start();
    }
  }

  private static void obey() {
    try {
      obeyInput();
    } catch (Exception e) {
      e.printStackTrace();
      System.exit(1);
    }
    System.out.println("done");
    System.exit(7);
  }

  private static void obeyInput() throws Exception {
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    String line;
    while ((line = input.readLine()) != null) {
      if (line.equals("observe")) {
        System.out.println("observed: " + observed());
      } else {
        Files.delete(Path.of(System.getProperty("catalina.base"), "webapps", line.split(" ")[1] + ".war"));
      }
    }
  }

  private static String observed() throws Exception {
    ObjectName connector = SERVER.queryNames(new ObjectName("Catalina:type=Connector,*"), null).iterator().next();
    List<String> applications = SERVER.queryNames(new ObjectName("Catalina:j2eeType=WebModule,*"), null).stream()
        .map(name -> name.getKeyProperty("name").replaceAll(".*/", ""))
        .sorted()
        .toList();
    List<String> beans = SERVER.queryNames(new ObjectName("io.mallometer:*"), null).stream()
        .map(name -> name.getKeyProperty("type"))
        .sorted()
        .toList();
    return "port=" + SERVER.getAttribute(connector, "localPort") + " applications=" + applications + " beans=" + beans;
  }
}
