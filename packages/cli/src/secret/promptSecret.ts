import { StringDecoder } from 'node:string_decoder'
import { CliError, exitCodes } from '../cliError.ts'

/** The terminal's input. */
export interface SecretInput {
  readonly isTTY?: boolean | undefined
  readonly setRawMode?: ((mode: boolean) => unknown) | undefined
  readonly on: (event: 'data', listener: (chunk: Buffer | string) => void) => unknown
  readonly off: (event: 'data', listener: (chunk: Buffer | string) => void) => unknown
  readonly resume: () => unknown
  readonly pause: () => unknown
}

/** The streams of a prompt. */
export interface PromptStreams {
  /** @default process.stdin */
  readonly input?: SecretInput
  /** @default process.stderr */
  readonly output?: { readonly isTTY?: boolean | undefined; readonly write: (text: string) => unknown }
}

/** Whether the streams are a terminal. */
export function canPrompt({ input = process.stdin, output = process.stderr }: PromptStreams = {}): boolean {
  return input.isTTY === true && output.isTTY === true && input.setRawMode !== undefined
}

const keys = { interrupt: '\u0003', end: '\u0004', eraseLine: '\u0015', backspace: '\b', delete: '\u007F' } as const

/**
 * Prompts for a secret on the terminal. The input is not shown, and does not appear in the shell's history or in process lists.
 *
 * @param question - For example `API key`.
 * @param streams - The terminal.
 * @returns The input, untrimmed. Empty if only Enter was pressed.
 * @throws {CliError} exit code 130 if interrupted.
 */
export function promptSecret(
  question: string,
  { input = process.stdin, output = process.stderr }: PromptStreams = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const decoder = new StringDecoder('utf8')
    let typed: string[] = []
    const end = (complete: () => void): void => {
      input.off('data', listener)
      input.setRawMode?.(false)
      input.pause()
      output.write('\n')
      complete()
    }
    const listener = (chunk: Buffer | string): void => {
      for (const character of typeof chunk === 'string' ? chunk : decoder.write(chunk)) {
        if (character === keys.interrupt) {
          return end(() => reject(new CliError('interrupted', { exitCode: exitCodes.interrupted })))
        }
        if (character === '\r' || character === '\n' || character === keys.end) {
          return end(() => resolve(typed.join('')))
        }
        if (character === keys.backspace || character === keys.delete) typed = typed.slice(0, -1)
        else if (character === keys.eraseLine) typed = []
        else typed.push(character)
      }
    }
    // Raw mode disables echo, even for input before the prompt appears. Ctrl-C arrives as a character.
    input.setRawMode?.(true)
    output.write(`${question} (not shown): `)
    input.on('data', listener)
    input.resume()
  })
}
