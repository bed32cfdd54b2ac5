import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { getBlockHead, callNode } from './callNode.ts'
import { browserBlockedPorts } from './browserBlockedPorts.ts'
import { startNode } from './startNode.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('startNode', () => {
  test('starts a node with the chain id on a loopback port, and stops it', async () => {
    const node = await startNode({ name: 'testnet', chainId: 1952805748, folder })
    expect(node.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(await callNode(node.url, 'eth_chainId')).toBe('0x74657374')
    await node.stop()
    // Anvil serves calls a moment before it handles SIGTERM.
    expect(['exit code 0', 'signal SIGTERM']).toContain(await node.exited)
    expect(alive(node.pid)).toBe(false)
  })

  test('resumes a saved chain', async () => {
    const saved = join(folder, 'chain.json')
    const first = await startNode({ name: 'testnet', chainId: 7, folder, saveTo: saved })
    await callNode(first.url, 'evm_mine')
    const before = await getBlockHead(first.url, 'latest')
    await first.stop()
    const second = await startNode({ name: 'testnet', chainId: 7, folder, loadFrom: saved })
    expect(await getBlockHead(second.url, 'latest')).toEqual(before)
    await second.stop()
  })

  test('reports when the node is killed', async () => {
    const node = await startNode({ name: 'testnet', chainId: 7, folder })
    process.kill(node.pid, 'SIGKILL')
    expect(await node.exited).toBe('signal SIGKILL')
    await node.stop()
  })

  test('rejects a saved chain that the node cannot load, and leaves it unchanged', async () => {
    const saved = join(folder, 'chain.json')
    writeFileSync(saved, '{"block":')
    await expect(startNode({ name: 'testnet', chainId: 7, folder, loadFrom: saved, saveTo: saved })).rejects.toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/^the testnet node exited before it listened \(exit code 2\): .*parse/),
        hint: expect.stringContaining(saved),
      }),
    )
    expect(readFileSync(saved, 'utf8')).toBe('{"block":')
  })

  test('rejects a binary that cannot run', async () => {
    const start = startNode({ name: 'mainnet', chainId: 7, folder, binary: join(folder, 'nothing') })
    await expect(start).rejects.toThrow(/^the mainnet node exited before it listened \(.*ENOENT\)$/)
  })

  test('skips ports in use, and fails if all are', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number }
    const addresses = [
      { host: '127.0.0.1', port },
      // A documentation address (RFC 5737).
      { host: '192.0.2.1', port: 6667 },
    ]
    const options = { name: 'testnet', chainId: 7, folder }
    await expect(startNode(options, addresses)).rejects.toThrow('the testnet node found no free port')
    const node = await startNode(options, [...addresses, { host: '127.0.0.1', port: 0 }])
    expect(await callNode(node.url, 'eth_chainId')).toBe('0x7')
    await node.stop()
    taken.close()
  })

  test('listens on a port that browsers and fetch block', async () => {
    const node = await startNode({ name: 'testnet', chainId: 7, folder })
    expect(browserBlockedPorts).toContain(Number(new URL(node.directUrl).port))
    const failure = await fetch(node.directUrl).catch((error: Error) => error.cause)
    expect(failure).toMatchObject({ message: 'bad port' })
    await node.stop()
    await expect(callNode(node.url, 'eth_chainId')).rejects.toThrow('did not respond to eth_chainId: ECONNREFUSED')
  })

  test.skipIf(process.platform === 'win32')('stops a program that never listens', async () => {
    const binary = join(folder, 'mute.sh')
    writeFileSync(binary, '#!/bin/sh\necho $$ > pid\nexec sleep 60\n', { mode: 0o755 })
    const start = startNode({ name: 'mainnet', chainId: 7, folder, binary, startTimeoutMs: 300 })
    await expect(start).rejects.toThrow('the mainnet node did not listen within 300 ms')
    expect(alive(Number(readFileSync(join(folder, 'pid'), 'utf8')))).toBe(false)
  })
})
