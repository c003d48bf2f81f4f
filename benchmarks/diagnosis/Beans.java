import java.io.BufferedReader;
import java.io.InputStreamReader;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** Reads JMX ports from lines of standard input, and prints the diagnosis of each JVM: state, tab, sentence. */
final class Beans {
  private Beans() {}

  public static void main(String[] arguments) throws Exception {
    var name = new ObjectName("io.mallometer:type=Diagnosis");
    var ports = new BufferedReader(new InputStreamReader(System.in));
    for (String port = ports.readLine(); port != null; port = ports.readLine()) {
      var address = new JMXServiceURL("service:jmx:rmi:///jndi/rmi://127.0.0.1:" + port + "/jmxrmi");
      try (JMXConnector connector = JMXConnectorFactory.connect(address)) {
        MBeanServerConnection server = connector.getMBeanServerConnection();
        System.out.println(server.getAttribute(name, "State") + "\t" + server.getAttribute(name, "Sentence"));
      } catch (Exception refused) {
        System.out.println("\t" + refused.getClass().getSimpleName());
      }
    }
  }
}
