import { StringDecoder } from 'node:string_decoder'
import { CliError, exitCodes } from '../cliError.ts'

/** What a secret is typed into: standard input on a terminal. */
export interface SecretInput {
  readonly isTTY?: boolean | undefined
  readonly setRawMode?: ((mode: boolean) => unknown) | undefined
  readonly on: (event: 'data', listener: (chunk: Buffer | string) => void) => unknown
  readonly off: (event: 'data', listener: (chunk: Buffer | string) => void) => unknown
  readonly resume: () => unknown
  readonly pause: () => unknown
}

/** Where somebody is asked, and answers. */
export interface PromptStreams {
  /** @default process.stdin */
  readonly input?: SecretInput
  /** @default process.stderr */
  readonly output?: { readonly isTTY?: boolean | undefined; readonly write: (text: string) => unknown }
}

/** Whether there is somebody to ask. */
export function canPrompt({ input = process.stdin, output = process.stderr }: PromptStreams = {}): boolean {
  return input.isTTY === true && output.isTTY === true && input.setRawMode !== undefined
}

const keys = { interrupt: '\u0003', end: '\u0004', eraseLine: '\u0015', backspace: '\b', delete: '\u007F' } as const

/**
 * Asks for a secret on the terminal. Nothing of what is typed is shown, and it reaches no shell, history or list of processes.
 *
 * @param question - What is asked, as in `API key`.
 * @param streams - The terminal.
 * @returns What was typed, as it was typed. Empty where Enter alone was pressed.
 * @throws {CliError} exit code 130 where it was interrupted.
 */
export function promptSecret(
  question: string,
  { input = process.stdin, output = process.stderr }: PromptStreams = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const decoder = new StringDecoder('utf8')
    let typed: string[] = []
    const end = (settle: () => void): void => {
      input.off('data', listener)
      input.setRawMode?.(false)
      input.pause()
      output.write('\n')
      settle()
    }
    const listener = (chunk: Buffer | string): void => {
      for (const character of typeof chunk === 'string' ? chunk : decoder.write(chunk)) {
        if (character === keys.interrupt) {
          return end(() => reject(new CliError('nothing was given', { exitCode: exitCodes.interrupted })))
        }
        if (character === '\r' || character === '\n' || character === keys.end) {
          return end(() => resolve(typed.join('')))
        }
        if (character === keys.backspace || character === keys.delete) typed = typed.slice(0, -1)
        else if (character === keys.eraseLine) typed = []
        else typed.push(character)
      }
    }
    // From here on the terminal itself echoes nothing, not even what is typed before the question is seen; Ctrl-C comes as a character.
    input.setRawMode?.(true)
    output.write(`${question} (not shown): `)
    input.on('data', listener)
    input.resume()
  })
}
