import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { CliError } from '../cliError.ts'
import { findAnvilBinary } from './findAnvilBinary.ts'
import { browserBlockedPorts, canListen, listBrowserBlockedAddresses } from './browserBlockedPorts.ts'
import type { ListenAddress } from './browserBlockedPorts.ts'
import { startNodeGuard } from './nodeGuard.ts'
import type { NodeGuard } from './nodeGuard.ts'

/** The options of an embedded node. */
export interface NodeOptions {
  /** For errors: `testnet`. */
  readonly name: string
  readonly chainId: number
  /** The node's working folder, for its cache. */
  readonly folder: string
  /** The chain to load: a file that an earlier node saved. */
  readonly loadFrom?: string | undefined
  /** Where to save the chain when the node stops. @default not saved */
  readonly saveTo?: string | undefined
  /** The chain to continue: the URL of its node, and its last block. @default a new chain */
  readonly fork?: { readonly url: string; readonly block: number | undefined } | undefined
  /** The time of block 0, in seconds since 1970. @default now */
  readonly genesisAt?: number | undefined
  /** Keeps only the state of so many of the latest blocks, for a chain that grows all the time. @default the state of all blocks */
  readonly keptStates?: number | undefined
  /** The node's binary. @default the one from npm */
  readonly binary?: string | undefined
  /** The timeout until it listens, in milliseconds. @default 20_000 */
  readonly startTimeoutMs?: number | undefined
}

/** A running embedded node. */
export interface RunningNode {
  /** For programs other than web pages. It rejects requests from browsers. */
  readonly url: string
  /** For the service only: the node itself, on a port that browsers and `fetch` block. */
  readonly directUrl: string
  readonly pid: number
  /** Resolves when the node has exited, with how. Never rejects. */
  readonly exited: Promise<string>
  /** Stops the node, which saves its chain first, and waits for its exit. Kills it after 5 s. */
  readonly stop: () => Promise<void>
}

const stopTimeoutMs = 5_000

// Reads until this process exits, which closes the pipe, then stops the node: SIGTERM first, SIGKILL after 5 s.
const watchScript = [
  'read -r _; kill -TERM "$1" 2>/dev/null; n=0',
  'while [ $n -lt 50 ]; do kill -0 "$1" 2>/dev/null || exit 0; sleep 0.1 2>/dev/null || sleep 1; n=$((n+1)); done',
  'kill -KILL "$1" 2>/dev/null',
].join('; ')

/**
 * Stops the node even if this process is killed.
 * On Windows the system does so: Node's child processes belong to a job that ends with their parent.
 */
function startWatch(pid: number): ChildProcess | undefined {
  if (process.platform === 'win32') return undefined
  const child = spawn('/bin/sh', ['-c', watchScript, 'keyrail-node-watch', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
  })
  // Without a shell, only this precaution is missing.
  child.on('error', () => undefined)
  child.stdin?.on('error', () => undefined)
  child.unref()
  ;(child.stdin as { unref?: () => void } | null)?.unref?.()
  return child
}

const describeExit = (code: number | null, signal: string | null): string =>
  signal === null ? `exit code ${code}` : `signal ${signal}`

async function startAnvil(
  options: NodeOptions,
  at: ListenAddress,
  forkUrl: string | undefined,
): Promise<Omit<RunningNode, 'url'>> {
  const { name, chainId, folder, loadFrom, saveTo, fork, genesisAt, keptStates, startTimeoutMs = 20_000 } = options
  const binary = options.binary ?? findAnvilBinary()
  const child = spawn(
    binary,
    [
      ['--host', at.host, '--port', String(at.port), '--no-cors', '--chain-id', String(chainId)],
      ['--cache-path', folder],
      // Saved states take hundreds of kilobytes for each block, and a chain that grows all the time has thousands.
      keptStates === undefined ? ['--preserve-historical-states'] : ['--prune-history', String(keptStates)],
      loadFrom === undefined ? [] : ['--load-state', loadFrom],
      saveTo === undefined ? [] : ['--dump-state', saveTo],
      genesisAt === undefined ? [] : ['--timestamp', String(genesisAt)],
      // Its cache is in the home folder and knows a chain only by its id, which development chains share.
      forkUrl === undefined ? [] : ['--fork-url', forkUrl, '--no-storage-caching'],
      fork?.block === undefined ? [] : ['--fork-block-number', String(fork.block)],
    ].flat(),
    {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
      // Outside the terminal's process group: Ctrl-C goes to this process, which stops the service before its nodes.
      detached: process.platform !== 'win32',
    },
  )
  let running = true
  const terminate = (): void => {
    if (running) child.kill('SIGTERM')
  }
  process.once('exit', terminate)
  const exited = new Promise<string>((resolve) => {
    const finish = (how: string): void => {
      running = false
      process.off('exit', terminate)
      resolve(how)
    }
    // Not `exit`: the node's last output, which says why it exited, may still be unread then.
    child.once('close', (code, signal) => finish(describeExit(code, signal)))
    child.once('error', (error) => finish(error.message))
  })
  const watcher = child.pid === undefined ? undefined : startWatch(child.pid)
  const exitedUnwatched = exited.then((how) => {
    watcher?.kill('SIGKILL')
    return how
  })

  const stop = async (): Promise<void> => {
    terminate()
    const force = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
    await exitedUnwatched
    clearTimeout(force)
  }

  let stdout = ''
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-2_000)
  })
  const address = await new Promise<string | undefined>((resolve) => {
    const timeout = setTimeout(() => resolve(undefined), startTimeoutMs)
    const complete = (found: string | undefined): void => {
      clearTimeout(timeout)
      resolve(found)
    }
    child.stdout.on('data', (chunk: Buffer) => {
      // Keep reading after it listens, or the node would block on a full pipe.
      if (stdout === 'listening') return
      stdout += chunk.toString()
      const found = /Listening on (127(?:\.\d+){3}:\d+)/.exec(stdout)?.[1]
      if (found === undefined) return
      stdout = 'listening'
      complete(found)
    })
    void exited.then(() => complete(undefined))
  })

  if (address !== undefined && child.pid !== undefined) {
    return { directUrl: `http://${address}`, pid: child.pid, exited: exitedUnwatched, stop }
  }
  const earlyExit = running ? undefined : await exited
  await stop()
  const reason = stderr.split('\n').find((line) => line.trim() !== '')
  throw new CliError(
    earlyExit === undefined
      ? `the ${name} node did not listen within ${startTimeoutMs} ms`
      : `the ${name} node exited before it listened (${earlyExit})${reason === undefined ? '' : `: ${reason.trim()}`}`,
    {
      hint:
        reason?.includes('--load-state') === true
          ? `nothing was changed; to start a new chain, move the saved one away: ${loadFrom}`
          : `check that the node runs: ${binary} --version`,
    },
  )
}

/** Starts the guard of a node. Everything is closed when the node exits. */
async function guardNode(anvil: Omit<RunningNode, 'url'>, fork: NodeGuard | undefined): Promise<RunningNode> {
  const guard = await startNodeGuard(anvil.directUrl).catch(async (error: unknown) => {
    await anvil.stop()
    throw error
  })
  const close = async (): Promise<void> => {
    await Promise.all([guard.close(), fork?.close()])
  }
  void anvil.exited.then(close)
  return {
    ...anvil,
    url: guard.url,
    stop: async () => {
      await anvil.stop()
      await close()
    },
  }
}

/**
 * Starts an anvil node and waits until it listens. anvil has no protection of its own: a page in the developer's browser could control it over
 * a WebSocket or through DNS rebinding. So it listens on a port that browsers block, and all programs but the service use a guard on a free
 * port of 127.0.0.1, which rejects requests from browsers.
 * The node stops when this process exits or is killed.
 *
 * @param options - The options.
 * @param addresses - Where the node may listen, in the order to try. @default ports that browsers block
 * @throws {CliError} if the binary is missing or cannot run, exits early or does not listen in time, or if no port is free.
 * @example
 * const node = await startNode({ name: 'testnet', chainId: 1952805748, folder: '/tmp/keyrail' })
 * await node.stop()
 */
export async function startNode(
  options: NodeOptions,
  addresses: readonly ListenAddress[] = listBrowserBlockedAddresses(),
): Promise<RunningNode> {
  // The URL of the fork may contain a key, and process lists show the arguments of the node.
  const fork = options.fork && (await startNodeGuard(options.fork.url, 'the node of --fork'))
  try {
    for (const address of addresses) {
      if (!(await canListen(address))) continue
      let anvil: Omit<RunningNode, 'url'>
      try {
        anvil = await startAnvil(options, address, fork?.url)
      } catch (error) {
        if (await canListen(address)) throw error
        // Another process has taken the port.
        continue
      }
      return await guardNode(anvil, fork)
    }
    throw new CliError(`the ${options.name} node found no free port`, {
      hint: `stop other keyrail dev processes, or free one of the ports ${browserBlockedPorts.join(', ')} on 127.0.0.1`,
    })
  } catch (error) {
    await fork?.close()
    throw error
  }
}
