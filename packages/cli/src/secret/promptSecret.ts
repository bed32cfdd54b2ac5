import { createInterface } from 'node:readline'
import type { Key } from 'node:readline'
import { Writable } from 'node:stream'
import { CliError, exitCodes } from '../cliError.ts'

/** The terminal's input. */
export type SecretInput = NodeJS.ReadableStream & {
  readonly isTTY?: boolean | undefined
  readonly setRawMode?: ((mode: boolean) => unknown) | undefined
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
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() })
  // Turns the echo off, even for input before the prompt appears.
  const lines = createInterface({ input, output: discard, terminal: true })
  output.write(`${question} (not shown): `)
  // readline itself ends at Ctrl-D only if nothing is typed.
  const endAtCtrlD = (_character: string | undefined, { ctrl, name }: Key): void => {
    if (ctrl === true && name === 'd') lines.close()
  }
  input.on('keypress', endAtCtrlD)
  return new Promise<string>((resolve, reject) => {
    lines.once('line', (line) => resolve(applyEdits(line)))
    lines.once('close', () => resolve(applyEdits(lines.line)))
    lines.once('SIGINT', () => reject(new CliError('interrupted', { exitCode: exitCodes.interrupted })))
  }).finally(() => {
    input.off('keypress', endAtCtrlD)
    lines.close()
    output.write('\n')
  })
}

/** Applies Ctrl-U and Backspace, which readline leaves in the line if `TERM` is `dumb`. */
function applyEdits(line: string): string {
  const typed: string[] = []
  for (const character of line.slice(line.lastIndexOf('\u0015') + 1))
    if (character === '\b' || character === '\u007F') typed.pop()
    else typed.push(character)
  return typed.join('')
}
