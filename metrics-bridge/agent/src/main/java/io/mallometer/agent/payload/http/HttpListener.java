package io.mallometer.agent.payload.http;

import io.mallometer.agent.payload.http.TlsWire.Buffers;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/**
 * Listens, and moves the bytes of all connections in one thread, which waits only for the network.
 *
 * <p>When the limit of connections is reached, a new client replaces the connection that has kept
 * the server waiting longest. A client that sends and takes bytes in time keeps its connection.
 */
public final class HttpListener implements AutoCloseable {

  private static final String NAME = "mallometer-http";

  private static final int WAITING_IN_KERNEL = 1_024;

  /**
   * The size of each of a connection's two socket buffers. The kernel counts both as memory of the
   * container.
   */
  private static final int KERNEL_BYTES = 64 * 1024;

  private static final long CHECK_MILLIS = 200;
  private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(CHECK_MILLIS);
  private static final long LONGEST_END_SECONDS = 5;
  private static final int PLAIN_BUFFER = 16 * 1024;

  private final Consumer<Exchange> handler;
  private final ClientLimits limits;
  private final Selector selector;
  private final ServerSocketChannel server;
  private final SelectionKey accepting;
  private final int port;
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

  private final @Nullable SSLContext tls;
  private final WorkerPool handshakes;

  /** The open connections. Only the network thread uses this field and the fields below. */
  private final Set<Connection> connections = new HashSet<>();

  private final ByteBuffer buffer;
  private final Buffers tlsBuffers;
  private long checked = System.nanoTime();
  private boolean comes;

  /**
   * Opens the port. Nothing is answered before {@link #start}.
   *
   * @param tls the context for HTTPS; empty for HTTP
   * @param handler answers a request, or passes it to a worker pool; must not wait
   * @throws IOException if it cannot listen at the address
   */
  public HttpListener(
      InetSocketAddress address,
      Optional<SSLContext> tls,
      ClientLimits limits,
      Consumer<Exchange> handler)
      throws IOException {
    this.handler = handler;
    this.limits = limits;
    // The latest handshake runs first, because older ones mostly belong to connections that are
    // closed already. If a full pool drops a handshake, the time limit closes the connection.
    this.handshakes = WorkerPool.latestFirst(NAME + "-tls", limits.connections());
    this.tls = tls.orElse(null);
    int record = tls.map(HttpListener::recordBytes).orElse(0);
    this.buffer = ByteBuffer.allocate(Math.max(PLAIN_BUFFER, record));
    this.tlsBuffers = Buffers.forRecordsOf(record);
    this.selector = Selector.open();
    this.server = ServerSocketChannel.open();
    try {
      server.setOption(StandardSocketOptions.SO_RCVBUF, KERNEL_BYTES);
      server.bind(address, WAITING_IN_KERNEL);
      server.configureBlocking(false);
      this.port = server.socket().getLocalPort();
      this.accepting = server.register(selector, SelectionKey.OP_ACCEPT);
    } catch (IOException | RuntimeException e) {
      server.close();
      selector.close();
      throw e;
    }
  }

  private static int recordBytes(SSLContext tls) {
    return tls.createSSLEngine().getSession().getPacketBufferSize();
  }

  /** Starts the network thread. */
  public void start() {
    WorkerPool.daemon(NAME, this::run).start();
  }

  /** Returns the port, also after the listener was closed. */
  public int port() {
    return port;
  }

  ClientLimits limits() {
    return limits;
  }

  Consumer<Exchange> handler() {
    return handler;
  }

  /** Returns a buffer for received bytes. Its content is valid until the next call. */
  ByteBuffer buffer() {
    return buffer;
  }

  private void run() {
    while (selector.isOpen()) {
      // Ignores interrupts: some applications interrupt all threads when they stop.
      Thread.interrupted();
      try {
        turn();
      } catch (IOException | RuntimeException | Error e) {
        // Memory may be short for a moment, so the thread continues after a pause.
        pause();
      }
    }
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(CHECK_MILLIS);
    } catch (InterruptedException e) {
      return;
    }
  }

  private void turn() throws IOException {
    selector.select(this::ready, longestSleep());
    if (comes) {
      comes = false;
      accept();
    }
    // Tasks may add further tasks. The added tasks run in the next turn, so that the connections
    // are checked in between.
    for (int left = tasks.size(); left > 0; left--) {
      @Nullable Runnable task = tasks.poll();
      if (task != null) {
        task.run();
      }
    }
    long now = System.nanoTime();
    if (now - checked >= CHECK_NANOS) {
      // Counts at most two check intervals against the clients' time limits, because this thread
      // may have been late or asleep.
      long passed = Math.min(now - checked, 2 * CHECK_NANOS);
      checked = now;
      // The loop needs a copy, because a check may close a connection and remove it from the set.
      new ArrayList<>(connections).forEach(connection -> connection.check(now, passed));
      accepting.interestOps(SelectionKey.OP_ACCEPT);
    }
  }

  /** Returns how many milliseconds the thread may sleep without events; 0 means without limit. */
  private long longestSleep() {
    if (accepting.interestOps() == 0) {
      return CHECK_MILLIS;
    }
    if (connections.isEmpty()) {
      return 0;
    }
    return connections.stream().allMatch(Connection::isIdle)
        ? Math.max(1, limits.idle().toMillis() / 4)
        : CHECK_MILLIS;
  }

  private void ready(SelectionKey key) {
    if (key == accepting) {
      // A new connection is accepted after the events of all existing connections.
      comes = true;
    } else {
      guarded((Connection) key.attachment());
    }
  }

  private void guarded(Connection connection) {
    try {
      connection.proceed();
    } catch (IOException | RuntimeException | Error e) {
      connection.close();
    }
  }

  private void accept() {
    try {
      do {
        if (connections.size() >= limits.connections() && !closeWhoWaitedLongest()) {
          // No connection can be closed. New ones wait in the kernel until one ends.
          accepting.interestOps(0);
          return;
        }
        @Nullable SocketChannel channel = server.accept();
        if (channel == null) {
          return;
        }
        admit(channel);
      } while (connections.size() < limits.connections());
    } catch (IOException e) {
      // File descriptors may be used up. Tries again at the next check.
      accepting.interestOps(0);
    }
  }

  private boolean closeWhoWaitedLongest() {
    long now = System.nanoTime();
    Optional<Connection> longest = longest(now);
    // The client's input may have just arrived, so it is read before the connection is closed.
    longest.ifPresent(this::guarded);
    while (longest.isPresent() && longest.get().waited(now) < 0) {
      longest = longest(now);
      longest.ifPresent(this::guarded);
    }
    longest.ifPresent(Connection::close);
    return longest.isPresent();
  }

  private Optional<Connection> longest(long now) {
    return connections.stream()
        .filter(connection -> connection.waited(now) >= 0)
        .max(Comparator.comparingLong(connection -> connection.waited(now)));
  }

  private void admit(SocketChannel channel) throws IOException {
    try {
      channel.configureBlocking(false);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.setOption(StandardSocketOptions.SO_SNDBUF, KERNEL_BYTES);
      SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
      Connection connection = new Connection(this, key, wire(channel, key));
      key.attach(connection);
      connections.add(connection);
    } catch (IOException | RuntimeException | Error e) {
      channel.close();
    }
  }

  private Transport wire(SocketChannel channel, SelectionKey key) {
    if (tls == null) {
      return new Transport.Plain(channel);
    }
    SSLEngine engine = tls.createSSLEngine();
    engine.setUseClientMode(false);
    return new TlsWire(channel, engine, tlsBuffers, (wire, work) -> compute(key, wire, work));
  }

  private void compute(SelectionKey key, TlsWire wire, Runnable work) {
    handshakes.takes(
        () -> {
          try {
            work.run();
          } finally {
            later(
                () -> {
                  wire.computed();
                  guarded((Connection) key.attachment());
                });
          }
        });
  }

  private void later(Runnable task) {
    tasks.add(task);
    selector.wakeup();
  }

  /** Makes the network thread continue with a connection. */
  void proceed(Connection connection) {
    later(() -> guarded(connection));
  }

  void close(Connection connection) {
    later(connection::close);
  }

  void forget(Connection connection) {
    connections.remove(connection);
    if (connections.size() < limits.connections() && accepting.isValid()) {
      accepting.interestOps(SelectionKey.OP_ACCEPT);
    }
  }

  /** Stops listening and closes all connections; returns when that is done. */
  @Override
  public void close() {
    later(this::end);
    try {
      if (!ended.await(LONGEST_END_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("port " + port + " is still open");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void end() {
    handshakes.close();
    try {
      new ArrayList<>(connections).forEach(Connection::close);
      server.close();
      selector.close();
    } catch (IOException e) {
      return;
    } finally {
      ended.countDown();
    }
  }
}
