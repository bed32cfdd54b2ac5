import { maskKeys } from './maskKeys.ts'

function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  // A reader that went away (`keyrail dev | head`) is no failure of this program.
  return new Promise((resolve) => {
    const end = (): void => {
      stream.off('error', end)
      resolve()
    }
    stream.once('error', end)
    stream.write(`${text}\n`, end)
  })
}

/** Prints lines for people on standard output. Keys are masked. Settles when they are written. */
export function print(lines: string | readonly string[]): Promise<void> {
  return write(process.stdout, maskKeys(typeof lines === 'string' ? lines : lines.join('\n')))
}

/** Prints on standard output for programs: nothing is masked, because that is what was asked for. */
export function printData(text: string): Promise<void> {
  return write(process.stdout, text)
}

/** Prints lines for people on standard error. Keys are masked. */
export function printNote(lines: string | readonly string[]): Promise<void> {
  return write(process.stderr, maskKeys(typeof lines === 'string' ? lines : lines.join('\n')))
}
