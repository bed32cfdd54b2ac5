import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getProgram } from '../../../../scripts/externalPrograms.ts'

// The samples of deploy/, with TLS on a local port.

const deploy = fileURLToPath(new URL('../../../../deploy', import.meta.url))

/** A proxy that the samples configure. */
interface Proxy {
  readonly name: 'caddy' | 'nginx'
  /** Whether it checks `/readyz`. If not, an instance is marked as down in its config before it stops. */
  readonly checksReadiness: boolean
  /**
   * Writes the config for these ports into a folder, which has `cert.pem` and `key.pem`.
   * @param down - The port of an instance that gets no calls.
   * @returns The arguments of the program.
   */
  readonly configure: (folder: string, port: number, instances: readonly number[], down?: number) => readonly string[]
}

const readSample = (file: string): string => readFileSync(join(deploy, file), 'utf8')

export const proxies: readonly Proxy[] = [
  {
    name: 'caddy',
    checksReadiness: true,
    configure: (folder, port, instances) => {
      const sample = readSample('caddy/Caddyfile')
        .replace(/^\{$/m, '{\n\tadmin off\n\tauto_https disable_redirects')
        .replace('rpc.example.org {', `https://localhost:${port} {\n\ttls ${folder}/cert.pem ${folder}/key.pem`)
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
    checksReadiness: false,
    configure: (folder, port, instances, down) => {
      const servers = instances.map(
        (instance) => `server 127.0.0.1:${instance} max_fails=1 fail_timeout=2s${instance === down ? ' down' : ''};`,
      )
      const sample = readSample('nginx/keyrail.conf')
        .replace(/(?: +server 127\.0\.0\.1:808\d [^\n]*\n)+/, `  ${servers.join('\n  ')}\n`)
        .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
        .replace('server_name rpc.example.org', 'server_name localhost')
        .replace(/ssl_certificate \S+;/, `ssl_certificate ${folder}/cert.pem;`)
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

/**
 * Starts a proxy.
 * @param args - From its `configure`.
 * @returns `reload` reads the config again, `stop` ends it, and `getOutput` returns what it has printed.
 */
export const startProxy = (name: Proxy['name'], folder: string, args: readonly string[]) => {
  // Caddy writes its state there.
  const env = { PATH: process.env['PATH'], HOME: folder, XDG_DATA_HOME: folder }
  const proxy = spawn(getProgram(name), args, { stdio: ['ignore', 'pipe', 'pipe'], env })
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
