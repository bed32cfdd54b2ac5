import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { places } from './places.ts'
import { runKeyrail, writeConfig } from './serviceProcess.ts'
import { startTestService } from './testService.ts'
import type { TestService } from './testService.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

// No container is made here: what the two files say is read, and what they run is run.

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
const restOf = (name: string): string => instructions.findLast((one) => one.name === name)?.rest ?? ''
const words = (name: string): string[] => JSON.parse(/\[.*\]/.exec(restOf(name))?.[0] ?? 'null') as string[]

describe('the Dockerfile', () => {
  test('holds known instructions, and runs as nobody special on the Node of this workspace', () => {
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
    expect(restOf('USER')).toBe('node')
    const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> }
    const images = instructions.filter(({ name }) => name === 'FROM').map(({ rest }) => rest.split(' ')[0])
    expect(new Set(images)).toEqual(new Set([`node:${devDependencies['node']}-bookworm-slim`]))
  })

  test('runs scripts that are there, and leaves out what must not be in an image', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const runs = instructions.filter(({ name }) => name === 'RUN').map(({ rest }) => rest)
    const named = runs.flatMap((rest) => [...rest.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name))
    expect(named).toEqual(['setup', 'build', 'pnpm'])
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
    for (const [, file = ''] of runs.join('\n').matchAll(/node (\S+\.mjs)/g))
      expect(existsSync(join(top, file))).toBe(true)
    expect(read('.dockerignore').split('\n')).toEqual(expect.arrayContaining(['.git', '.keyrail', '**/node_modules']))
  })

  test('its command is one that the program knows', async () => {
    expect(words('ENTRYPOINT')).toEqual(['node', '/app/dist/main.js'])
    const { exitCode, stderr } = await runKeyrail([...words('CMD'), '--check'])
    // All but the file itself was understood.
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining('the config is not there: /etc/keyrail/keyrail.config.json'),
    ])
  })
})

describe('the health check', () => {
  let service: TestService
  beforeAll(async () => {
    const [place] = places
    if (place !== undefined) service = await startTestService(place)
  })
  afterAll(() => service.close())

  test('is well while the service is ready, and not when nothing listens', async () => {
    const [program = '', ...given] = words('HEALTHCHECK')
    expect(program).toBe('node')
    const check = (port: number) =>
      promisify(execFile)(
        process.execPath,
        given.map((word) => word.replace(':8080/', `:${port}/`)),
      )
    await expect(check(service.process.port)).resolves.toMatchObject({ stderr: '' })
    await expect(check(9)).rejects.toMatchObject({ code: 1 })
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
}

describe('the compose file', () => {
  // Vite brings it.
  const { parse } = createRequire(createRequire(import.meta.url).resolve('vite/package.json'))('yaml') as {
    parse: (text: string) => { services: Record<string, ComposeService>; volumes: Record<string, null> }
  }
  const { services, volumes } = parse(read('compose.yaml'))

  test('has the service on PostgreSQL and Redis, each of which it names', () => {
    expect(Object.keys(services).toSorted()).toEqual(['keyrail', 'postgres', 'redis'])
    const { environment = {}, depends_on: needs = {} } = services['keyrail'] ?? {}
    expect(new URL(environment['DATABASE_URL']?.replaceAll(/\$\{[^}]*\}/g, 'x') ?? '').hostname).toBe('postgres')
    expect(new URL(environment['REDIS_URL'] ?? '').hostname).toBe('redis')
    expect(Object.keys(needs).toSorted()).toEqual(['postgres', 'redis'])
    for (const [name, { condition }] of Object.entries(needs))
      expect([name, condition === 'service_healthy']).toEqual([name, services[name]?.healthcheck !== undefined])
    const { POSTGRES_USER: user, POSTGRES_DB: database } = services['postgres']?.environment ?? {}
    expect(environment['DATABASE_URL']).toMatch(new RegExp(`^postgres://${user}:.*@postgres:5432/${database}$`))
    expect(services['postgres']?.volumes?.[0]?.split(':')[0]).toBe(Object.keys(volumes)[0])
  })

  // 15.29
  test('stops the service only after its drain delay and its grace time', () => {
    const environment = instructions.filter(({ name }) => name === 'ENV').map(({ rest }) => rest)
    const delayMs = Number(/\bKEYRAIL_DRAIN_DELAY_MS=(\d+)\b/.exec(environment.join(' '))?.[1])
    expect(delayMs).toBe(5_000)
    const defaultGraceMs = 10_000
    const stopMs = Number(/^(\d+)s$/.exec(services['keyrail']?.stop_grace_period ?? '')?.[1]) * 1_000
    expect(stopMs).toBeGreaterThan(delayMs + defaultGraceMs)
  })

  test('holds no secret of its own, and shows nothing but the service', () => {
    const { keyrail, ...others } = services
    for (const name of ['KEYRAIL_SECRET', 'KEYRAIL_OPERATOR_TOKEN'])
      expect(keyrail?.environment?.[name]).toMatch(/^\$\{\w+:[?-]/)
    expect(Object.values(others).flatMap(({ ports = [] }) => ports)).toEqual([])
    expect(keyrail?.ports).toEqual(['8080:8080'])
  })

  test('its service takes the config that the file asks for, by the very names of its environment', async () => {
    const [place] = places
    const opened = await place?.open()
    if (opened === undefined) throw new Error('there is no place')
    const file = writeConfig(opened.folder, {
      publicUrl: 'https://rpc.example.org',
      listen: { host: '0.0.0.0', port: 8080 },
      chain: { name: 'Testland', symbol: 'TST' },
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
