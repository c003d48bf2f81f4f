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
 * Listens, and moves the bytes of all connections in one thread, which waits for nothing but the
 * network. While there are only idle connections it sleeps; else it looks every fifth of a second
 * who has taken too long.
 *
 * <p>Where there are as many connections as may be, a new one ends that which has kept the server
 * waiting longest: for a request, for the end of a handshake, or for an answer to be taken. A
 * client that does what it came for is never that one, however many others do not.
 */
public final class HttpListener implements AutoCloseable {

  private static final String NAME = "mallometer-http";

  private static final int WAITING_IN_KERNEL = 1_024;

  /** Kernel memory of a connection is the container's. */
  private static final int KERNEL_BYTES = 64 * 1024;

  private static final long CHECK_MILLIS = 200;
  private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(CHECK_MILLIS);
  private static final long LONGEST_END_SECONDS = 5;
  private static final int PLAIN_BUFFER = 16 * 1024;

  private final Consumer<Exchange> handler;
  private final Limits limits;
  private final Selector selector;
  private final ServerSocketChannel server;
  private final SelectionKey accepting;
  private final int port;
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

  private final @Nullable SSLContext tls;
  private final Lane handshakes;

  /** Of the thread's own, as is all below. */
  private final Set<Connection> connections = new HashSet<>();

  private final ByteBuffer buffer;
  private final Buffers tlsBuffers;
  private long checked = System.nanoTime();
  private boolean comes;

  /**
   * Listens, and answers nothing before {@link #start}.
   *
   * @param tls for HTTPS; empty for HTTP
   * @param handler answers, or has a lane answer: it must not wait
   * @throws IOException if it cannot listen there
   */
  public HttpListener(
      InetSocketAddress address,
      Optional<SSLContext> tls,
      Limits limits,
      Consumer<Exchange> handler)
      throws IOException {
    this.handler = handler;
    this.limits = limits;
    // Beyond that some is of closed connections; an open one that loses its turn runs out of time.
    this.handshakes = Lane.latestFirst(NAME + "-tls", limits.connections());
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

  /** Begins to answer. */
  public void start() {
    Lane.daemon(NAME, this::run).start();
  }

  /** Where it listens, or did. */
  public int port() {
    return port;
  }

  Limits limits() {
    return limits;
  }

  Consumer<Exchange> handler() {
    return handler;
  }

  /** Room for what has come, until the next call. */
  ByteBuffer buffer() {
    return buffer;
  }

  private void run() {
    while (selector.isOpen()) {
      // Whoever interrupts all threads does not mean this one.
      Thread.interrupted();
      try {
        turn();
      } catch (IOException | RuntimeException | Error e) {
        // Such as no memory just now: later there may be some.
        pause();
      }
    }
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(CHECK_MILLIS);
    } catch (InterruptedException e) {
      // As above.
      return;
    }
  }

  private void turn() throws IOException {
    selector.select(this::ready, longestSleep());
    if (comes) {
      comes = false;
      accept();
    }
    // No more than there are now: each may add another, and others have to be looked at as well.
    for (int left = tasks.size(); left > 0; left--) {
      @Nullable Runnable task = tasks.poll();
      if (task != null) {
        task.run();
      }
    }
    long now = System.nanoTime();
    if (now - checked >= CHECK_NANOS) {
      // If this thread was late, or slept, no client is to blame.
      long passed = Math.min(now - checked, 2 * CHECK_NANOS);
      checked = now;
      // Those that are closed are taken out.
      new ArrayList<>(connections).forEach(connection -> connection.check(now, passed));
      accepting.interestOps(SelectionKey.OP_ACCEPT);
    }
  }

  /** How long there is nothing to do if nothing comes, in milliseconds; 0 for ever. */
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
      // After what has come of those who are there.
      comes = true;
    } else {
      guarded((Connection) key.attachment());
    }
  }

  /** What fails in one connection is the end of that one. */
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
          // All are being answered. Others wait in the kernel until one is, or the next check.
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
      // Such as no file descriptor left: again at the next check.
      accepting.interestOps(0);
    }
  }

  /** False if nobody keeps the server waiting. */
  private boolean closeWhoWaitedLongest() {
    long now = System.nanoTime();
    Optional<Connection> longest = longest(now);
    // What it was waited for may have come just now.
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

  private Wire wire(SocketChannel channel, SelectionKey key) {
    if (tls == null) {
      return new Wire.Plain(channel);
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

  /** Has the thread of the network go on with a connection. */
  void proceed(Connection connection) {
    later(() -> guarded(connection));
  }

  /** Has the thread of the network close a connection. */
  void close(Connection connection) {
    later(connection::close);
  }

  /** A connection was closed. */
  void forget(Connection connection) {
    connections.remove(connection);
    if (connections.size() < limits.connections() && accepting.isValid()) {
      accepting.interestOps(SelectionKey.OP_ACCEPT);
    }
  }

  /** Listens no longer, and closes all connections; returns when that is done. */
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
      // Nothing can be done about it.
      return;
    } finally {
      ended.countDown();
    }
  }
}
