import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseServiceConfig } from '../../src/index.ts'
import { idleSources } from '../idleSources.ts'

const read = (name: string): string => readFileSync(join(import.meta.dirname, '../../../../docs/service', name), 'utf8')
const running = read('running.md')

describe('docs/service', () => {
  test('the example configs are valid', () => {
    const examples = [...running.matchAll(/```json\n([\s\S]*?)```/g)].map(([, example = '']) =>
      parseServiceConfig(JSON.parse(example)),
    )
    expect(examples).toMatchObject([
      { publicUrl: 'http://127.0.0.1:8080', signUp: 'closed' },
      { publicUrl: 'http://127.0.0.1:8080', signUp: 'invite' },
    ])
  })

  test('the example of networks is valid', () => {
    const [, example = ''] = /```json\n([\s\S]*?)```/.exec(read('networks.md')) ?? []
    expect(parseServiceConfig(JSON.parse(example)).networks).toMatchObject({
      'ethereum-mainnet': { chainId: 1, aliases: expect.arrayContaining(['eth-mainnet']) as unknown },
      'base-mainnet': { chainId: 8_453, chain: 'base', testnet: false },
      'our-chain': { chainId: 424_242, chain: 'our-chain', testnet: true },
    })
  })

  test('the example networks of subscriptions are valid', () => {
    const examples = [...read('subscriptions.md').matchAll(/```json\n([\s\S]*?)```/g)]
      .map(([, example = '']) => JSON.parse(example) as object)
      .filter((example) => 'networks' in example)
    const [nodes, checks] = examples.map((example) =>
      parseServiceConfig({ publicUrl: 'https://rpc.example.org', ...example }),
    )
    expect(nodes?.networks['ethereum-mainnet']?.upstreams).toMatchObject([
      { wsUrl: 'ws://10.0.0.5:8546' },
      { wsUrlEnv: 'PROVIDER_WS_URL' },
    ])
    expect(checks?.networks['our-chain']).toMatchObject({ checkLogs: false })
  })

  test('the runbook has a section for each alert, which names it, and each section has the same parts', () => {
    const alerts = readFileSync(join(import.meta.dirname, '../../../../deploy/prometheus/alerts.yaml'), 'utf8')
      .split('- alert: ')
      .slice(1)
      .map((rule) => ({ name: /^\w+/.exec(rule)?.[0] ?? '', runbook: / runbook: (\S+)/.exec(rule)?.[1] }))
    expect(alerts.length).toBeGreaterThan(20)
    for (const { name, runbook } of alerts)
      expect([name, runbook]).toEqual([name, `docs/service/runbook.md#${name.toLowerCase()}`])
    const sections = read('runbook.md').split('\n### ').slice(1)
    const titles = sections.map((section) => section.split('\n', 1)[0] ?? '')
    expect(titles.toSorted()).toEqual(alerts.map(({ name }) => name).toSorted())
    for (const [index, section] of sections.entries())
      expect([titles[index], section]).toEqual([
        titles[index],
        expect.stringMatching(/\*\*Meaning\.\*\* [\s\S]*\*\*Check(?: and fix)?\.\*\* /),
      ])
  })

  test('every metric that is named exists', async () => {
    const { createPrometheus } = await import('../../src/service/prometheus.ts')
    const prometheus = await createPrometheus(idleSources)
    const text = await prometheus.text()
    const pages = read('monitoring.md') + read('operating.md') + read('runbook.md')
    const named = [...pages.matchAll(/\b(keyrail_[a-z_]+)/g)].map(([, name]) => name)
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([])
  })
})
