import { maskKeys } from './maskKeys.ts'

function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  // A closed pipe (`keyrail dev | head`) is not a failure.
  return new Promise((resolve) => {
    const end = (): void => {
      stream.off('error', end)
      resolve()
    }
    stream.once('error', end)
    stream.write(`${text}\n`, end)
  })
}

/** Prints lines for people on standard output, with keys masked. Resolves when they are written. */
export function print(lines: string | readonly string[]): Promise<void> {
  return write(process.stdout, maskKeys(typeof lines === 'string' ? lines : lines.join('\n')))
}

/** Prints data for programs on standard output, unmasked. */
export function printData(text: string): Promise<void> {
  return write(process.stdout, text)
}

/** Prints lines with secrets for people on standard error, unmasked: only what a command was asked to create. */
export function printSecrets(lines: readonly string[]): Promise<void> {
  return write(process.stderr, lines.join('\n'))
}

/** Prints lines for people on standard error, with keys masked. */
export function printNote(lines: string | readonly string[]): Promise<void> {
  return write(process.stderr, maskKeys(typeof lines === 'string' ? lines : lines.join('\n')))
}
