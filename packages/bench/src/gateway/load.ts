import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** Requests that are sent repeatedly. */
export interface Load {
  /** Requests use them in turn: all paths with the first body, then all with the second. */
  readonly paths: readonly string[]
  readonly bodies: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  /** @default 64 */
  readonly connections?: number
  /** How long each connection waits before its next request, in milliseconds. @default 0 */
  readonly pauseMs?: number
}

/** The result of a slice of load. */
export interface Served {
  readonly requests: number
  /** Responses with another status than 2xx. */
  readonly rejected: number
  /** Requests without a response. */
  readonly lost: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const quoted = (value: string): string => `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
const list = (values: readonly string[]): string => `{${values.map(quoted).join(',')}}`

/** A program for wrk. It formats the requests before the slice starts, so that this costs nothing. */
const program = ({ paths, bodies, headers = {}, pauseMs = 0 }: Load): string => `
local paths, bodies = ${list(paths)}, ${list(bodies)}
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
${Object.entries(headers)
  .map(([name, value]) => `wrk.headers[${quoted(name)}] = ${quoted(value)}`)
  .join('\n')}
local made, at = {}, 0
function init()
  for _, body in ipairs(bodies) do
    for _, path in ipairs(paths) do made[#made + 1] = wrk.format(nil, path, nil, body) end
  end
end
function request()
  at = at % #made + 1
  return made[at]
end
${pauseMs === 0 ? '' : `function delay() return math.random(${2 * pauseMs}) end`}
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('\\n{"requests":%d,"rejected":%d,"lost":%d,"p50Ms":%f,"p99Ms":%f}\\n', summary.requests, e.status,
    e.connect + e.read + e.write + e.timeout, latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
`

/**
 * Sends load to a server for some seconds, with one thread of wrk.
 *
 * @throws If wrk is not installed.
 */
export async function runLoad(url: string, load: Load, seconds: number): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-load-'))
  try {
    const file = join(folder, 'load.lua')
    writeFileSync(file, program(load))
    const connections = String(load.connections ?? 64)
    const child = spawn(
      'wrk',
      ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '--timeout', '10s', '-s', file, url],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    const output = text(child.stdout)
    const [code] = (await once(child, 'exit')) as [number | null]
    const line = (await output).trim().split('\n').at(-1) ?? ''
    if (code !== 0) throw new Error(`wrk ended with ${code}`)
    return JSON.parse(line) as Served
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new Error('wrk is missing: apt-get install wrk', { cause: error })
    throw error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
