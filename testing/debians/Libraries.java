import com.github.luben.zstd.ZstdCompressCtx;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.util.ArrayList;
import java.util.List;

/** Lets two libraries allocate native memory, keeps that memory, and ends when the input ends. */
public final class Libraries {

  private static final List<Object> KEPT = new ArrayList<>();

  private Libraries() {}

  public static void main(String[] arguments) throws Exception {
    for (int i = 0; i < 40; i++) {
      sqlite();
      zstd();
    }
    System.out.println("ready");
    while (System.in.read() >= 0) {}
    System.exit(KEPT.isEmpty() ? 1 : 0);
  }

  private static void sqlite() throws Exception {
    Connection connection = DriverManager.getConnection("jdbc:sqlite::memory:");
    connection.createStatement().execute("create table entry (id integer primary key, content blob)");
    try (PreparedStatement insert = connection.prepareStatement("insert into entry (content) values (?)")) {
      for (int i = 0; i < 50; i++) {
        insert.setBytes(1, new byte[20_000]);
        insert.executeUpdate();
      }
    }
    KEPT.add(connection);
  }

  private static void zstd() {
    ZstdCompressCtx context = new ZstdCompressCtx().setLevel(3);
    context.compress(new byte[500_000]);
    KEPT.add(context);
  }
}
