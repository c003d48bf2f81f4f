package io.mallometer.agent.payload;

import io.mallometer.agent.payload.ServerOptions.Certificate;
import java.io.File;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** Makes a TLS context from a certificate in a key store. */
final class Tls {

  private Tls() {}

  /**
   * Returns a TLS context.
   *
   * @throws IOException if the key store cannot be read or lacks the certificate; the message names
   *     the key store
   */
  static SSLContext of(Certificate certificate) throws IOException {
    char[] password = certificate.password().toCharArray();
    try {
      KeyStore store = KeyStore.getInstance(new File(certificate.keyStore()), password);
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(
          certificate.alias().isEmpty() ? store : only(store, certificate, password), password);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), null, null);
      return context;
    } catch (GeneralSecurityException | IOException | IllegalArgumentException e) {
      throw new IOException("key store " + certificate.keyStore() + ": " + e.getMessage(), e);
    }
  }

  /** Returns a store with one entry, because key managers choose arbitrarily among several. */
  private static KeyStore only(KeyStore store, Certificate certificate, char[] password)
      throws GeneralSecurityException, IOException {
    if (!store.isKeyEntry(certificate.alias())) {
      throw new IOException("there is no key " + certificate.alias());
    }
    KeyStore one = KeyStore.getInstance("PKCS12");
    one.load(null, password);
    one.setKeyEntry(
        certificate.alias(),
        store.getKey(certificate.alias(), password),
        password,
        store.getCertificateChain(certificate.alias()));
    return one;
  }
}
