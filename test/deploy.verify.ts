import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCertificate } from '@keyrail/core/test/createCertificate.ts'
import { parseServiceConfig } from '@keyrail/gateway'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { getProgram, needs } from '../scripts/externalPrograms.ts'
import type { ExternalProgramName } from '../scripts/externalPrograms.ts'
import { run, top } from './run.ts'

const deploy = join(top, 'deploy')
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-deploy-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const expectSuccess = async (program: ExternalProgramName, args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await run(getProgram(program), args)
  expect(code, stdout + stderr).toBe(0)
  return stdout
}

describe('Prometheus', needs('promtool'), () => {
  const rules = join(deploy, 'prometheus')
  test('loads the alert rules', () => expectSuccess('promtool', ['check', 'rules', join(rules, 'alerts.yaml')]))
  test('fires the alerts when they should, and not before', () =>
    expectSuccess('promtool', ['test', 'rules', join(rules, 'alerts.test.yaml')]))
  test('loads the scrape config', () => expectSuccess('promtool', ['check', 'config', join(rules, 'scrape.yaml')]))
})

describe('nginx', needs('nginx'), () => {
  test('loads the sample', async () => {
    const { certFile, keyFile } = createCertificate(folder, 'x')
    const sample = readFileSync(join(deploy, 'nginx/keyrail.conf'), 'utf8')
      .replace(/ssl_certificate \S+;/, `ssl_certificate ${certFile};`)
      .replace(/ssl_certificate_key \S+;/, `ssl_certificate_key ${keyFile};`)
      .replace(/error_log \S+ emerg;/, 'error_log stderr emerg;')
    const config = join(folder, 'nginx.conf')
    writeFileSync(config, `pid ${join(folder, 'pid')};\nerror_log stderr;\nevents {}\nhttp {\n${sample}\n}\n`)
    await expectSuccess('nginx', ['-t', '-p', folder, '-c', config])
  })
})

describe('Caddy', needs('caddy'), () => {
  const sample = join(deploy, 'caddy/Caddyfile')
  test('loads the sample', () => expectSuccess('caddy', ['validate', '--adapter', 'caddyfile', '--config', sample]))
})

/** A service of a compose file, as far as it is checked here. */
interface ComposeService {
  readonly image?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly cap_add?: readonly string[]
  readonly profiles?: readonly string[]
}

describe('the demo', () => {
  const demo = join(deploy, 'demo')
  const readServices = (file: string): Record<string, ComposeService> =>
    (parse(readFileSync(file, 'utf8'), { merge: true }) as { services: Record<string, ComposeService> }).services
  const services = readServices(join(demo, 'compose.yaml'))
  /** The demo starts one instance. */
  const base = Object.entries(readServices(join(top, 'compose.yaml')))
    .filter(([, { profiles }]) => profiles === undefined)
    .map(([name]) => name)

  test('every container has limits, and those that it adds have few privileges', () => {
    expect(Object.keys(services)).toEqual([...base, 'node', 'caddy'])
    for (const [name, service] of Object.entries(services)) {
      const added = {
        restart: 'unless-stopped',
        mem_limit: expect.stringMatching(/^\d+m$/),
        logging: { driver: 'json-file', options: { 'max-size': '10m', 'max-file': '5' } },
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      }
      const limits = { cpus: expect.any(Number), pids_limit: expect.any(Number) }
      expect([name, service]).toEqual([
        name,
        expect.objectContaining({ ...limits, ...(!base.includes(name) && added) }),
      ])
    }
  })

  test('only the proxy with TLS is reachable from other machines, and no file contains a secret', () => {
    const published = Object.entries(services).filter(([, { ports }]) => ports !== undefined)
    expect(published.map(([name, { ports }]) => [name, ports])).toEqual([['caddy', ['80:80', '443:443']]])
    expect(Object.values(services).flatMap(({ environment = {} }) => Object.keys(environment))).toEqual([])
    for (const name of readdirSync(demo))
      expect(readFileSync(join(demo, name), 'utf8')).not.toMatch(/password|secret|token|:\/\/\w*:\w+@/i)
  })

  test('has a valid config, sign-up by invite only, and limits far below the defaults', () => {
    const text = readFileSync(join(demo, 'keyrail.config.json'), 'utf8')
    const config = parseServiceConfig(JSON.parse(text))
    const defaults = parseServiceConfig({ publicUrl: config.publicUrl, networks: config.networks })
    expect(config).toMatchObject({ signUp: 'invite', reveal: 'never', listen: { host: '0.0.0.0', port: 8080 } })
    for (const kind of ['apps', 'apiKeys'] as const) {
      for (const limit of ['perSecond', 'burst', 'perDay'] as const)
        expect(config.limits[kind][limit]).toBeLessThanOrEqual((defaults.limits[kind][limit] as number) / 5)
    }
    const [subnet] = /172[.\d/]+/.exec(readFileSync(join(demo, 'compose.yaml'), 'utf8')) ?? []
    expect(config.trustedProxies).toEqual([subnet])
    expect(readFileSync(join(demo, 'Caddyfile'), 'utf8')).toContain(`\n${new URL(config.publicUrl).host} {\n`)
  })

  test('runs the node of keyrail dev', () => {
    const { dependencies } = JSON.parse(readFileSync(join(top, 'packages/cli/package.json'), 'utf8')) as {
      dependencies: Record<string, string>
    }
    expect(services['node']?.image).toMatch(new RegExp(`:v${dependencies['@foundry-rs/anvil']}$`))
  })

  test('Caddy loads its file', needs('caddy'), () =>
    expectSuccess('caddy', ['validate', '--adapter', 'caddyfile', '--config', join(demo, 'Caddyfile')]),
  )
})

describe('systemd', needs('systemd-analyze'), () => {
  test('accepts the unit', async () => {
    const unit = join(deploy, 'systemd/keyrail@.service')
    const { stdout, stderr } = await run(getProgram('systemd-analyze'), ['verify', unit])
    expect(stdout + stderr).not.toMatch(/keyrail@/)
  })
})

/** Values that a user must set. */
const values = {
  existingSecret: 'keyrail-secrets',
  config: {
    publicUrl: 'https://rpc.example.org',
    networks: { 'base-mainnet': { upstreams: [{ urlEnv: 'BASE_NODE_URL' }] } },
  },
  ingress: { enabled: true, host: 'rpc.example.org', tlsSecret: 'tls' },
  autoscaling: { enabled: true },
  metrics: { serviceMonitor: { enabled: true } },
  networkPolicy: { metricsFrom: [{ namespaceSelector: {} }] },
}

describe('the Helm chart', () => {
  const chart = join(deploy, 'helm/keyrail')
  // Without a cluster, Helm assumes an old Kubernetes version.
  const kubernetes = ['--kube-version', '1.30.0']
  interface Schema {
    readonly properties?: Readonly<Record<string, Schema>>
  }
  const toPaths = (value: unknown, schema: Schema, path = ''): string[] => {
    if (schema.properties === undefined || Object(value) !== value) return [path]
    return Object.entries(value as object).flatMap(([name, member]) => {
      const inner = schema.properties?.[name]
      return inner === undefined ? [`${path}.${name} is not in the schema`] : toPaths(member, inner, `${path}.${name}`)
    })
  }

  test('has a schema for every value, and a default for every value of the schema', () => {
    const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as Schema
    const defaults = parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as Record<string, unknown>
    // The service has its own schema for the config.
    const { config: _, ...others } = defaults
    expect(toPaths(others, schema).filter((path) => path.endsWith('is not in the schema'))).toEqual([])
    const missing = Object.keys(schema.properties ?? {}).filter((name) => !(name in defaults) && name !== 'global')
    expect(missing).toEqual([])
  })

  test('uses only values that exist', () => {
    const defaults = parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as Record<string, unknown>
    const templates = readdirSync(join(chart, 'templates')).map((name) =>
      readFileSync(join(chart, 'templates', name), 'utf8'),
    )
    const used = templates.flatMap((text) => [...text.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path))
    const exists = (path: string): boolean => {
      let value: unknown = defaults
      for (const name of path.split('.')) {
        if (Object(value) !== value || !(name in (value as object))) return false
        value = (value as Record<string, unknown>)[name]
      }
      return true
    }
    expect(used.length).toBeGreaterThan(20)
    expect(used.filter((path) => !exists(path))).toEqual([])
  })

  test('the job of its ServiceMonitor is the one that the alerts name', () => {
    const readTemplate = (name: string): string => readFileSync(join(chart, 'templates', name), 'utf8')
    const [, label = ''] = /^ {2}jobLabel: (\S+)$/m.exec(readTemplate('servicemonitor.yaml')) ?? []
    const [, job] = new RegExp(`^${label}: (\\S+)$`, 'm').exec(readTemplate('_helpers.tpl')) ?? []
    const alerts = readFileSync(join(deploy, 'prometheus/alerts.yaml'), 'utf8')
    expect(new Set([...alerts.matchAll(/job="([^"]*)"/g)].map(([, name]) => name))).toEqual(new Set([job]))
  })

  test('renders manifests and a config that are valid', needs('helm'), async () => {
    const file = join(folder, 'values.yaml')
    writeFileSync(file, JSON.stringify(values))
    await expectSuccess('helm', ['lint', '--strict', chart, '--values', file, ...kubernetes])
    const rendered = await expectSuccess('helm', ['template', 'rail', chart, '--values', file, ...kubernetes])
    const documents = parseAllDocuments(rendered).map((document) => document.toJS() as Record<string, unknown>)
    expect(documents.map(({ kind }) => kind as string).toSorted()).toEqual(
      [
        'ConfigMap',
        'Deployment',
        'HorizontalPodAutoscaler',
        'Ingress',
        'NetworkPolicy',
        'PodDisruptionBudget',
        'Service',
        'Service',
        'ServiceMonitor',
      ].toSorted(),
    )
    const configMap = documents.find(({ kind }) => kind === 'ConfigMap') as
      | { readonly data: Record<string, string> }
      | undefined
    const config = parseServiceConfig(JSON.parse(configMap?.data['keyrail.config.json'] ?? ''))
    expect(config).toMatchObject({
      listen: { host: '0.0.0.0', port: 8080 },
      prometheus: { port: 9464 },
      drainDelayMs: 5_000,
    })
  })

  test('rejects values without a config or a secret, and ports that the chart sets', needs('helm'), async () => {
    const bad = [
      {},
      { ...values, existingSecret: '' },
      { ...values, config: { ...values.config, listen: { port: 1 } } },
    ]
    for (const one of bad) {
      const file = join(folder, 'bad.yaml')
      writeFileSync(file, JSON.stringify(one))
      const { code, stderr } = await run(getProgram('helm'), [
        'template',
        'rail',
        chart,
        '--values',
        file,
        ...kubernetes,
      ])
      expect(code).not.toBe(0)
      expect(stderr).toContain("don't meet the specifications of the schema")
    }
  })
})
