// The applications whose page is looked at: real processes, preloaded, on free ports of the loopback interface.
import {spawn} from 'node:child_process';
import {mkdtempSync, readFileSync, readdirSync, rmSync} from 'node:fs';
import {createServer, request} from 'node:http';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const repository = join(here, '../../../..');
const library = join(repository, 'interposer/target/native/linux-x86-64/libmallometer.so');
const java = process.env.JAVA_HOME ? join(process.env.JAVA_HOME, 'bin/java') : 'java';
// These processes live for a minute: thorough compilation would cost more than it gives.
const QUICK = ['-Xmx128m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-XX:+UnlockDiagnosticVMOptions', '-XX:-BytecodeVerificationRemote'];
const START_LIMIT = 120_000;

function serviceJar() {
  const target = join(repository, 'samples/leaky-service/target');
  return join(target, readdirSync(target).find(name => /^mallometer-leaky-service-.*\.jar$/.test(name)));
}

// A Spring Boot application that has nothing but the starter and Spring Security as it comes, which kim may pass.
const matrixClassPath = version => join(repository, `spring-starter/matrix/boot-${version}/target/page.classpath`);

function freePort() {
  return new Promise(resolve => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const {port} = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

export class Application {
  // With a context path, and the management on a port of its own.
  static async sample(...properties) {
    const [port, managementPort] = [await freePort(), await freePort()];
    const application = new Application(['-jar', serviceJar()], [
      `--server.port=${port}`, '--server.servlet.context-path=/shop',
      `--management.server.port=${managementPort}`, '--management.server.base-path=/ops', ...properties,
    ]);
    return Object.assign(application, {port, managementPort}).started();
  }

  // With a context path, where the management has no port of its own.
  static async onBoot(version, {hasManagementPort}) {
    const port = await freePort();
    const contextPath = hasManagementPort ? '' : '/shop';
    const managementPort = hasManagementPort ? await freePort() : port;
    const application = new Application(['-cp', readFileSync(matrixClassPath(version), 'utf8').trim(), 'org.springframework.boot.SpringApplication'], [
      '--spring.main.sources=io.mallometer.spring.TestApplication', `--server.port=${port}`, `--management.server.port=${managementPort}`,
      `--server.servlet.context-path=${contextPath}`, '--spring.security.user.name=kim', '--spring.security.user.password=pass',
      '--mallometer.poll-interval=1s', '--management.endpoint.nativememory.access=unrestricted',
    ]);
    return Object.assign(application, {port, managementPort, contextPath}).started();
  }

  // Any program with the agent; this one does nothing.
  static async withAgent() {
    const port = await freePort();
    const agent = join(repository, 'metrics-bridge/agent/target/mallometer-agent.jar');
    const application = new Application([`-javaagent:${agent}=port=${port},allow-trim=true`, join(here, 'Idle.java')], []);
    return Object.assign(application, {port, managementPort: port}).started();
  }

  constructor(program, properties) {
    this.directory = mkdtempSync(join(tmpdir(), 'mallometer-page-'));
    const exposed = ['--server.address=127.0.0.1', '--management.endpoints.web.exposure.include=health,nativememory'];
    this.arguments = [...(process.env.PAGE_JVM?.split(' ') ?? QUICK), ...program, ...(properties.length > 0 ? [...exposed, ...properties] : [])];
  }

  async started() {
    this.log = '';
    this.process = spawn(java, this.arguments, {
      cwd: this.directory,
      env: {...process.env, LD_PRELOAD: library, MALLOMETER_RECORDING: join(this.directory, 'recording')},
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const isStarted = await new Promise(resolve => {
      const patience = setTimeout(resolve, START_LIMIT, false);
      const answer = started => {
        clearTimeout(patience);
        resolve(started);
      };
      const read = data => {
        this.log += data;
        if (/Started \w+ in [\d.]+ seconds/.test(this.log)) {
          answer(true);
        }
      };
      this.process.stdout.on('data', read);
      this.process.stderr.on('data', read);
      this.process.once('close', () => answer(false));
    });
    if (!isStarted) {
      await this.stop();
      throw new Error(`the application did not start:\n${this.log}`);
    }
    return this;
  }

  kill(signal) {
    return new Promise(resolve => {
      this.process.once('exit', resolve);
      this.process.kill(signal);
    });
  }

  async stop() {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      await this.kill('SIGTERM');
    }
    rmSync(this.directory, {recursive: true, force: true});
  }
}

// A reverse proxy that serves an application below a prefix of its own.
export function proxy(prefix, port) {
  const server = createServer((asked, answer) => {
    if (!asked.url.startsWith(prefix)) {
      answer.writeHead(404).end();
      return;
    }
    const {host, ...headers} = asked.headers;
    const forwarded = request({host: '127.0.0.1', port, method: asked.method, path: asked.url.slice(prefix.length), headers}, reply => {
      answer.writeHead(reply.statusCode, reply.headers);
      reply.pipe(answer);
    });
    forwarded.on('error', () => answer.destroy());
    asked.pipe(forwarded);
  });
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(server)));
}
