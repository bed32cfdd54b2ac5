import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { CliError } from '../cliError.ts'
import { findAnvilBinary } from './findAnvilBinary.ts'
import { browserBlockedPorts, canListen, listBrowserBlockedAddresses } from './browserBlockedPorts.ts'
import type { ListenAddress } from './browserBlockedPorts.ts'
import { startNodeGuard } from './nodeGuard.ts'

/** How one embedded node is started. */
export interface NodeOptions {
  /** For errors: `testnet`. */
  readonly name: string
  readonly chainId: number
  /** The node's working folder: what it keeps besides its state goes there. */
  readonly folder: string
  /** The chain to go on from: a file that an earlier node saved. */
  readonly loadFrom?: string | undefined
  /** Where the chain is saved when the node stops. @default not saved */
  readonly saveTo?: string | undefined
  /** The time of block 0, in seconds since 1970. @default now */
  readonly genesisAt?: number | undefined
  /** The node's binary. @default the one from npm */
  readonly binary?: string | undefined
  /** How long the node may take until it listens, in milliseconds. @default 20_000 */
  readonly startTimeoutMs?: number | undefined
}

/** An embedded node that listens. */
export interface RunningNode {
  /** For every program that is not a web page. Requests that a browser sent are rejected here. */
  readonly url: string
  /** For the service alone: the node itself, on a port that browsers do not connect to. `fetch` does not either. */
  readonly directUrl: string
  readonly pid: number
  /** Settles when the node has ended, with how. Never rejects. */
  readonly ended: Promise<string>
  /** Ends the node, which saves its chain first if told to, and waits for its end; kills it after 5 s. */
  readonly stop: () => Promise<void>
}

const stopWithinMs = 5_000

// Reads until this process is gone (its end of the pipe closes, however it died), then ends the node: asked first, forced after 5 s.
const watch = [
  'read -r _; kill -TERM "$1" 2>/dev/null; n=0',
  'while [ $n -lt 50 ]; do kill -0 "$1" 2>/dev/null || exit 0; sleep 0.1 2>/dev/null || sleep 1; n=$((n+1)); done',
  'kill -KILL "$1" 2>/dev/null',
].join('; ')

/**
 * Ends the node even when this process is killed and can do nothing itself.
 * On Windows the system does so already: child processes of Node belong to a job that ends with their parent.
 */
function startWatch(pid: number): ChildProcess | undefined {
  if (process.platform === 'win32') return undefined
  const child = spawn('/bin/sh', ['-c', watch, 'keyrail-node-watch', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
  })
  // A machine without a shell loses this one precaution only.
  child.on('error', () => undefined)
  child.stdin?.on('error', () => undefined)
  child.unref()
  ;(child.stdin as { unref?: () => void } | null)?.unref?.()
  return child
}

const endOf = (code: number | null, signal: string | null): string =>
  signal === null ? `exit code ${code}` : `signal ${signal}`

async function startAnvil(options: NodeOptions, at: ListenAddress): Promise<Omit<RunningNode, 'url'>> {
  const { name, chainId, folder, loadFrom, saveTo, genesisAt, startTimeoutMs = 20_000 } = options
  const binary = options.binary ?? findAnvilBinary()
  const child = spawn(
    binary,
    [
      ['--host', at.host, '--port', String(at.port), '--no-cors', '--chain-id', String(chainId)],
      ['--cache-path', folder, '--preserve-historical-states'],
      loadFrom === undefined ? [] : ['--load-state', loadFrom],
      saveTo === undefined ? [] : ['--dump-state', saveTo],
      genesisAt === undefined ? [] : ['--timestamp', String(genesisAt)],
    ].flat(),
    {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
      // Out of the terminal's process group: Ctrl-C is for this process, which stops the service before its nodes.
      detached: process.platform !== 'win32',
    },
  )
  let running = true
  const endNow = (): void => {
    if (running) child.kill('SIGTERM')
  }
  process.once('exit', endNow)
  const ended = new Promise<string>((resolve) => {
    const finish = (how: string): void => {
      running = false
      process.off('exit', endNow)
      resolve(how)
    }
    child.once('exit', (code, signal) => finish(endOf(code, signal)))
    child.once('error', (error) => finish(error.message))
  })
  const watcher = child.pid === undefined ? undefined : startWatch(child.pid)
  const unwatched = ended.then((how) => {
    watcher?.kill('SIGKILL')
    return how
  })

  const stop = async (): Promise<void> => {
    endNow()
    const force = setTimeout(() => child.kill('SIGKILL'), stopWithinMs)
    await unwatched
    clearTimeout(force)
  }

  let printed = ''
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-2_000)
  })
  const address = await new Promise<string | undefined>((resolve) => {
    const tooLate = setTimeout(() => resolve(undefined), startTimeoutMs)
    const settle = (found: string | undefined): void => {
      clearTimeout(tooLate)
      resolve(found)
    }
    child.stdout.on('data', (chunk: Buffer) => {
      // Read on to the end, or the node would block on a full pipe; kept only until it listens.
      if (printed === 'listening') return
      printed += chunk.toString()
      const found = /Listening on (127(?:\.\d+){3}:\d+)/.exec(printed)?.[1]
      if (found === undefined) return
      printed = 'listening'
      settle(found)
    })
    void ended.then(() => settle(undefined))
  })

  if (address !== undefined && child.pid !== undefined) {
    return { directUrl: `http://${address}`, pid: child.pid, ended: unwatched, stop }
  }
  const early = running ? undefined : await ended
  await stop()
  const reason = complaint.split('\n').find((line) => line.trim() !== '')
  throw new CliError(
    early === undefined
      ? `the ${name} node did not listen within ${startTimeoutMs} ms`
      : `the ${name} node ended before it listened (${early})${reason === undefined ? '' : `: ${reason.trim()}`}`,
    {
      hint:
        reason?.includes('--load-state') === true
          ? `the saved chain cannot be read; nothing was changed. Move it away to begin a new chain: ${loadFrom}`
          : `try the node by itself: ${binary} --version`,
    },
  )
}

/**
 * Starts one anvil node and waits until it listens. anvil has no protection of its own: a page in the developer's browser could drive it over
 * a WebSocket or through DNS rebinding. So it listens on a port that browsers do not connect to, and everyone but the service goes through a
 * guard on a free port of 127.0.0.1, which rejects what browsers send.
 * The node ends with this process, however this process ends.
 *
 * @param options - The chain, and where it is saved.
 * @param addresses - Where the node may listen, in the order to try. @default ports that browsers do not connect to
 * @throws {CliError} where the binary is missing, cannot be run, ends early or does not listen in time, or where no port is free.
 * @example
 * const node = await startNode({ name: 'testnet', chainId: 1952805748, folder: '/tmp/keyrail' })
 * await node.stop()
 */
export async function startNode(
  options: NodeOptions,
  addresses: readonly ListenAddress[] = listBrowserBlockedAddresses(),
): Promise<RunningNode> {
  for (const address of addresses) {
    if (!(await canListen(address))) continue
    let anvil: Omit<RunningNode, 'url'>
    try {
      anvil = await startAnvil(options, address)
    } catch (error) {
      if (await canListen(address)) throw error
      // Another process took the port in the meantime.
      continue
    }
    const guard = await startNodeGuard(anvil.directUrl).catch(async (error: unknown) => {
      await anvil.stop()
      throw error
    })
    void anvil.ended.then(guard.close)
    return {
      ...anvil,
      url: guard.url,
      stop: async () => {
        await anvil.stop()
        await guard.close()
      },
    }
  }
  throw new CliError(`the ${options.name} node found no free port`, {
    hint: `stop other keyrail dev services, or free one of the ports ${browserBlockedPorts.join(', ')} on 127.0.0.1`,
  })
}
