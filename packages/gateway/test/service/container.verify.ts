import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { getProgram, needs } from '../../../../scripts/externalPrograms.ts'
import { chainIds, unreachableUrl } from '../startGateway.ts'
import { getFreePort } from '../getFreePort.ts'
import { places } from './places.ts'
import { runKeyrail, writeConfig } from './serviceProcess.ts'
import { startTestService } from './testService.ts'
import type { TestService } from './testService.ts'

// These tests start no container: they read both files and run the commands in them.

const top = join(import.meta.dirname, '../../../..')
const read = (name: string): string => readFileSync(join(top, name), 'utf8')

interface Instruction {
  readonly name: string
  readonly rest: string
}

const parseDockerfile = (text: string): Instruction[] =>
  text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', rest = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? []
      return { name, rest }
    })

const instructions = parseDockerfile(read('Dockerfile'))
const getArguments = (name: string): string => instructions.findLast((one) => one.name === name)?.rest ?? ''
const getWords = (name: string): string[] => JSON.parse(/\[.*\]/.exec(getArguments(name))?.[0] ?? 'null') as string[]

describe('the Dockerfile', () => {
  test('has known instructions only, and runs as an unprivileged user on the Node version of this workspace', () => {
    const known = [
      'FROM',
      'WORKDIR',
      'COPY',
      'RUN',
      'ENV',
      'USER',
      'VOLUME',
      'EXPOSE',
      'HEALTHCHECK',
      'ENTRYPOINT',
      'CMD',
    ]
    expect(instructions.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([])
    expect(getArguments('USER')).toBe('node')
    const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> }
    // Renovate adds the digest, and changes it with the tag.
    const images = instructions
      .filter(({ name }) => name === 'FROM')
      .map(({ rest }) => rest.split(' ')[0]?.replace(/@sha256:[0-9a-f]{64}$/, ''))
    expect(new Set(images)).toEqual(new Set([`node:${devDependencies['node']}-bookworm-slim`]))
  })

  test('runs existing scripts, and leaves out files that must not be in an image', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const runs = instructions.filter(({ name }) => name === 'RUN').map(({ rest }) => rest)
    const named = runs.flatMap((rest) => [...rest.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name))
    expect(named).toEqual(['setup', 'build', 'pnpm'])
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
    for (const [, file = ''] of runs.join('\n').matchAll(/node (\S+\.mjs)/g))
      expect(existsSync(join(top, file))).toBe(true)
    expect(read('.dockerignore').split('\n')).toEqual(expect.arrayContaining(['.git', '.keyrail', '**/node_modules']))
  })

  test('leaves out the embedded nodes, which only keyrail dev needs', async () => {
    const deploy = instructions.find(({ rest }) => rest.includes(' deploy '))?.rest.split(' ') ?? []
    expect(deploy).toEqual(expect.arrayContaining(['--prod', '--no-optional']))
    // Its binaries are in optional packages, one per platform.
    const { resolve } = createRequire(join(top, 'packages/cli/package.json'))
    const anvil = JSON.parse(readFileSync(resolve('@foundry-rs/anvil/package.json'), 'utf8')) as {
      dependencies?: object
      optionalDependencies: Record<string, string>
    }
    expect(anvil.dependencies).toBeUndefined()
    expect(Object.keys(anvil.optionalDependencies)).toContain('@foundry-rs/anvil-linux-amd64')
  })

  test('its command is valid', async () => {
    expect(getWords('ENTRYPOINT')).toEqual(['node', '/app/dist/main.js'])
    const { exitCode, stderr } = await runKeyrail([...getWords('CMD'), '--check'])
    // Only the config file is missing.
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining('the config does not exist: /etc/keyrail/keyrail.config.json'),
    ])
  })
})

describe('the health check', () => {
  const [, , command = '', ...commandOptions] = getWords('HEALTHCHECK')

  test('runs the program of the image with the config of its command', () => {
    expect(getWords('HEALTHCHECK').slice(0, 2)).toEqual(getWords('ENTRYPOINT'))
    expect(commandOptions).toEqual(getWords('CMD').slice(1))
    expect(getArguments('HEALTHCHECK')).toMatch(/^(--(interval|timeout|start-period)=\d+s )+CMD /)
    expect(getArguments('HEALTHCHECK')).not.toContain('readyz')
  })

  test.each(['127.0.0.1', '0.0.0.0'])('passes on %s and any port while all nodes are down', async (host) => {
    const [place] = places
    if (place === undefined) throw new Error('no test environment')
    const service: TestService = await startTestService(place, {
      listen: { host, port: await getFreePort() },
      networks: {
        testnet: { chainId: chainIds.testnet, upstreams: [{ url: unreachableUrl }] },
        mainnet: { chainId: chainIds.mainnet, upstreams: [{ url: unreachableUrl }] },
      },
    })
    const check = () => runKeyrail([command, '--config', service.configFile])
    const { port } = service.process
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(503)
    expect(await check()).toMatchObject({ exitCode: 0, stderr: '' })
    await service.close()
    const folder = mkdtempSync(join(tmpdir(), 'keyrail-stopped-'))
    const file = writeConfig(folder, { ...service.config, listen: { host, port } })
    expect(await runKeyrail([command, '--config', file])).toMatchObject({ exitCode: 1 })
    rmSync(folder, { recursive: true, force: true })
  })
})

interface ComposeService {
  readonly image?: string
  readonly build?: string
  readonly stop_grace_period?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly restart?: string
  readonly command?: readonly string[]
  readonly logging?: { readonly driver: string; readonly options: Readonly<Record<string, string>> }
  readonly mem_limit?: string
  readonly read_only?: boolean
  readonly tmpfs?: readonly string[]
  readonly cap_drop?: readonly string[]
  readonly cap_add?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly privileged?: boolean
}

describe('the compose file', () => {
  // A dependency of Vite.
  const { parse } = createRequire(createRequire(import.meta.url).resolve('vite/package.json'))('yaml') as {
    parse: (
      text: string,
      options: { merge: boolean },
    ) => { services: Record<string, ComposeService>; volumes: Record<string, null> }
  }
  const { services, volumes } = parse(read('compose.yaml'), { merge: true })

  test('runs the service with PostgreSQL and Redis', () => {
    expect(Object.keys(services).toSorted()).toEqual(['keyrail', 'keyrail-2', 'keyrail-3', 'postgres', 'redis'])
    const { environment = {}, depends_on: needs = {} } = services['keyrail'] ?? {}
    const getHost = (name: string): string => new URL(environment[name]?.replaceAll(/\$\{[^}]*\}/g, 'x') ?? '').hostname
    expect([getHost('DATABASE_URL'), getHost('REDIS_URL')]).toEqual(['postgres', 'redis'])
    expect(Object.keys(needs).toSorted()).toEqual(['postgres', 'redis'])
    for (const [name, { condition }] of Object.entries(needs))
      expect([name, condition === 'service_healthy']).toEqual([name, services[name]?.healthcheck !== undefined])
    const { POSTGRES_USER: user, POSTGRES_DB: database } = services['postgres']?.environment ?? {}
    expect(environment['DATABASE_URL']).toMatch(new RegExp(`^postgres://${user}:.*@postgres:5432/${database}$`))
    expect(services['postgres']?.volumes?.[0]?.split(':')[0]).toBe(Object.keys(volumes)[0])
  })

  test('its profile starts three instances, which differ only in their ports: those of the proxy samples', () => {
    for (const [name, port] of Object.entries({ 'keyrail-2': 8081, 'keyrail-3': 8082 }))
      expect(services[name]).toEqual({
        ...services['keyrail'],
        profiles: ['several'],
        ports: [`127.0.0.1:${port}:8080`],
      })
    const readPorts = (file: string): string[] =>
      [...read(file).matchAll(/127\.0\.0\.1:(80\d\d)/g)].map(([, port = '']) => port)
    for (const file of ['compose.yaml', 'deploy/caddy/Caddyfile', 'deploy/nginx/keyrail.conf'])
      expect([file, readPorts(file)]).toEqual([file, ['8080', '8081', '8082']])
    expect(read('deploy/systemd/keyrail@.service')).toContain('\nEnvironment=KEYRAIL_PORT_OFFSET=%i ')
  })

  // 15.29
  test('gives the service time for its drain delay and its grace period', () => {
    expect(getArguments('ENV')).not.toContain('KEYRAIL_DRAIN_DELAY_MS')
    const defaultDelayMs = 5_000
    const defaultGraceMs = 10_000
    const stopMs = Number(/^(\d+)s$/.exec(services['keyrail']?.stop_grace_period ?? '')?.[1]) * 1_000
    expect(stopMs).toBeGreaterThan(defaultDelayMs + defaultGraceMs)
  })

  test('contains no secret, and publishes only the port of the service', () => {
    const { keyrail, 'keyrail-2': second, 'keyrail-3': third, ...others } = services
    for (const name of ['KEYRAIL_SECRET', 'KEYRAIL_OPERATOR_TOKEN'])
      expect(keyrail?.environment?.[name]).toMatch(/^\$\{\w+:[?-]/)
    expect(Object.values(others).flatMap(({ ports = [] }) => ports)).toEqual([])
    // On the loopback interface: other machines connect to a proxy with TLS.
    for (const instance of [keyrail, second, third])
      expect(instance?.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:808[012]:8080$/)])
    for (const { environment = {}, command = [] } of Object.values(services))
      for (const text of [...Object.entries(environment).map((entry) => entry.join('=')), ...command])
        expect(text.replaceAll(/\$\{\w+:\?set it in \.env\}/g, '')).not.toMatch(
          /(password|secret|token|auth)\w*[=:]\s*\w|:\/\/\w*:\w+@/i,
        )
  })

  test('every container restarts after a reboot, has limits for memory and logs, and has few privileges', () => {
    for (const [name, service] of Object.entries(services)) {
      expect([name, service]).toEqual([
        name,
        expect.objectContaining({
          restart: 'unless-stopped',
          mem_limit: expect.stringMatching(/^\d+[mg]$/),
          logging: { driver: 'json-file', options: { 'max-size': '10m', 'max-file': '5' } },
          read_only: true,
          tmpfs: expect.arrayContaining([expect.stringMatching(/^\/tmp(:|$)/)]),
          cap_drop: ['ALL'],
          security_opt: ['no-new-privileges:true'],
        }),
      ])
      expect(service.privileged).toBeUndefined()
    }
    // Its start script changes the owner of the data to the user postgres, and switches to that user.
    expect(services['keyrail']?.cap_add).toBeUndefined()
    expect(services['redis']?.cap_add).toBeUndefined()
    expect(services['postgres']?.cap_add).toEqual(['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'])
    expect(services['postgres']?.tmpfs).toContain('/var/run/postgresql')
  })

  test('Redis requires the password that the service uses', () => {
    const { command = [], environment = {} } = services['redis'] ?? {}
    const password = command[command.indexOf('--requirepass') + 1]
    expect(password).toBe('${REDIS_PASSWORD:?set it in .env}')
    expect(services['keyrail']?.environment?.['REDIS_URL']).toBe(`redis://:${password}@redis:6379/0`)
    // For the health check.
    expect(environment['REDISCLI_AUTH']).toBe(password)
    // The page that explains which variables to set.
    const page = read('docs/service/running.md')
    for (const [, name = ''] of read('compose.yaml').matchAll(/\$\{(\w+):\?/g))
      expect(page).toContain(`echo "${name}=$(openssl rand -hex 32)" >`)
  })

  test(
    'the Redis command starts, and rejects clients without the password',
    needs('redis-server', 'redis-cli'),
    async () => {
      const [program = '', ...settings] = (services['redis']?.command ?? []).map((word) =>
        word.replace('${REDIS_PASSWORD:?set it in .env}', 'aa11'),
      )
      expect(program).toBe('redis-server')
      const port = String(await getFreePort())
      const redis = spawn(getProgram('redis-server'), [...settings, '--port', port, '--bind', '127.0.0.1'], {
        stdio: 'ignore',
      })
      const exited = once(redis, 'exit')
      try {
        const ping = async (environment: Record<string, string>): Promise<string> =>
          (
            await promisify(execFile)(getProgram('redis-cli'), ['-p', port, 'ping'], {
              env: { ...process.env, ...environment },
            }).catch(() => ({ stdout: '' }))
          ).stdout.trim()
        await expect.poll(() => ping({ REDISCLI_AUTH: 'aa11' })).toBe('PONG')
        expect(await ping({})).toContain('NOAUTH')
      } finally {
        redis.kill()
        await exited
      }
    },
  )

  test('the service accepts a config with the environment of the file', async () => {
    const [place] = places
    const opened = await place?.open()
    if (opened === undefined) throw new Error('no test environment')
    const file = writeConfig(opened.folder, {
      publicUrl: 'https://rpc.example.org',
      listen: { host: '0.0.0.0', port: 8080 },
      networks: {
        testnet: { chainId: 1, upstreams: [{ url: 'http://node:8545' }] },
        mainnet: { chainId: 2, upstreams: [{ url: 'http://node:8546' }] },
      },
    })
    const environment = Object.fromEntries(
      Object.entries(services['keyrail']?.environment ?? {}).map(([name, value]) => [
        name,
        value.replaceAll(/\$\{\w+:\?[^}]*\}/g, 'x'.repeat(48)).replaceAll(/\$\{\w+:-\}/g, ''),
      ]),
    )
    const { exitCode, stderr } = await runKeyrail(['serve', '--check', '--config', file], environment)
    await opened.close()
    expect([exitCode, stderr]).toEqual([0, ''])
  })
})
