import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// The samples of deploy/, with TLS on a local port.

const deploy = fileURLToPath(new URL('../../../../deploy', import.meta.url))

const findProgram = (name: string): string | undefined =>
  [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'].map((folder) => join(folder, name)).find(existsSync)

/** A proxy that the samples configure. */
interface Proxy {
  readonly name: string
  readonly debianPackage: string
  /** Whether it checks `/readyz`. If not, an instance is marked as down in its config before it stops. */
  readonly checksReadiness: boolean
  /**
   * Writes the config for these ports into a folder, which has `certificate.pem` and `key.pem`.
   * @param down - The port of an instance that gets no calls.
   * @returns The arguments of the program.
   */
  readonly configure: (folder: string, port: number, instances: readonly number[], down?: number) => readonly string[]
}

const readSample = (file: string): string => readFileSync(join(deploy, file), 'utf8')

const samples: readonly Proxy[] = [
  {
    name: 'caddy',
    debianPackage: 'caddy',
    checksReadiness: true,
    configure: (folder, port, instances) => {
      const sample = readSample('caddy/Caddyfile')
        .replace(/^\{$/m, '{\n\tadmin off\n\tauto_https disable_redirects')
        .replace('rpc.example.org {', `https://localhost:${port} {\n\ttls ${folder}/certificate.pem ${folder}/key.pem`)
        .replace(
          '127.0.0.1:8080 127.0.0.1:8081 127.0.0.1:8082',
          instances.map((instance) => `127.0.0.1:${instance}`).join(' '),
        )
      const file = join(folder, 'Caddyfile')
      writeFileSync(file, sample)
      return ['run', '--adapter', 'caddyfile', '--config', file]
    },
  },
  {
    name: 'nginx',
    debianPackage: 'nginx-light',
    checksReadiness: false,
    configure: (folder, port, instances, down) => {
      const servers = instances.map(
        (instance) => `server 127.0.0.1:${instance} max_fails=1 fail_timeout=2s${instance === down ? ' down' : ''};`,
      )
      const sample = readSample('nginx/keyrail.conf')
        .replace(/(?: +server 127\.0\.0\.1:808\d [^\n]*\n)+/, `  ${servers.join('\n  ')}\n`)
        .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
        .replace('server_name rpc.example.org', 'server_name localhost')
        .replace(/ssl_certificate \S+;/, `ssl_certificate ${folder}/certificate.pem;`)
        .replace(/ssl_certificate_key \S+;/, `ssl_certificate_key ${folder}/key.pem;`)
        .replace(/error_log \S+ emerg;/, 'error_log stderr emerg;')
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${join(folder, name)};`,
      )
      const file = join(folder, 'nginx.conf')
      writeFileSync(
        file,
        `pid ${join(folder, 'pid')};\nerror_log stderr;\ndaemon off;\nevents {}\nhttp {\n${paths.join('\n')}\n${sample}\n}\n`,
      )
      return ['-p', folder, '-c', file]
    },
  },
]

const mustRun = process.env['KEYRAIL_TEST_ALL'] === '1'
/** The proxies that are installed. All of them if KEYRAIL_TEST_ALL is 1: then the tests fail. */
export const proxies = samples.filter(({ name, debianPackage }) => {
  const isThere = findProgram(name) !== undefined
  if (!isThere && !mustRun)
    process.stdout.write(`Skipped: tests behind ${name}. Debian: apt-get install ${debianPackage}\n`)
  return isThere || mustRun
})

/** Writes `certificate.pem` and `key.pem`. */
export const createCertificate = (folder: string): void => {
  const options = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost']
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'certificate.pem')]
  execFileSync('openssl', ['req', ...options, ...files], { stdio: 'ignore' })
}

/**
 * Starts a proxy.
 * @param args - From its `configure`.
 * @returns `reload` reads the config again, `stop` ends it, and `getOutput` returns what it has printed.
 */
export const startProxy = (name: string, folder: string, args: readonly string[]) => {
  // Caddy writes its state there.
  const env = { PATH: process.env['PATH'], HOME: folder, XDG_DATA_HOME: folder }
  const proxy = spawn(findProgram(name) ?? name, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  const exited = once(proxy, 'close')
  let output = ''
  for (const stream of [proxy.stdout, proxy.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  return {
    reload: () => proxy.kill('SIGHUP'),
    stop: () => {
      proxy.kill()
      return exited
    },
    getOutput: () => output,
  }
}
