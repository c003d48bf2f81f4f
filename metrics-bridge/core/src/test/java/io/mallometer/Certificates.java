package io.mallometer;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Creates key stores for tests, and TLS contexts for servers and clients that use them. */
public final class Certificates {

  private Certificates() {}

  public static void keytool(Path store, String alias) throws Exception {
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-J-XX:TieredStopAtLevel=1",
                "-J-XX:+UseSerialGC",
                "-genkeypair",
                "-alias",
                alias,
                "-dname",
                "CN=" + alias,
                "-keyalg",
                "EC",
                "-ext",
                "SAN=IP:127.0.0.1,DNS:localhost",
                "-keystore",
                store.toString(),
                "-storetype",
                "PKCS12",
                "-storepass",
                "changeit")
            .redirectErrorStream(true)
            .start();
    String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(keytool.waitFor()).as(said).isZero();
  }

  public static SSLContext serving(Path store) throws Exception {
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(open(store), "changeit".toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), null, null);
    return context;
  }

  public static Path pem(Path store, String alias) throws Exception {
    String certificate =
        Base64.getMimeEncoder().encodeToString(open(store).getCertificate(alias).getEncoded());
    return Files.writeString(
        store.resolveSibling(alias + ".pem"),
        "-----BEGIN CERTIFICATE-----\n" + certificate + "\n-----END CERTIFICATE-----\n");
  }

  /** Returns the TLS context of a client that trusts only one certificate of a store. */
  public static SSLContext trusting(Path store, String alias) throws Exception {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry(alias, open(store).getCertificate(alias));
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  private static KeyStore open(Path store) throws Exception {
    return KeyStore.getInstance(store.toFile(), "changeit".toCharArray());
  }
}
