/** An `@example` of a docblock. */
export interface Example {
  /** The line in the file where it starts, from 1. */
  readonly line: number
  readonly code: string
}

/**
 * Finds every `@example` in the docblocks of a source file.
 * @param source - The text of the file.
 */
export function findExamples(source: string): Example[] {
  const examples: Example[] = []
  for (const block of source.matchAll(/\/\*\*[\s\S]*?\*\//g)) {
    const first = source.slice(0, block.index).split('\n').length
    const lines = block[0]
      .slice('/**'.length, -'*/'.length)
      .split('\n')
      .map((line) => line.replace(/^\s*\* ?/, ''))
    for (const [at, line] of lines.entries()) {
      const tag = /^\s*@example\b(.*)$/.exec(line)
      if (!tag) continue
      const rest = lines.slice(at + 1)
      const end = rest.findIndex((later) => /^@\w/.test(later))
      const code = [tag[1] ?? '', ...(end === -1 ? rest : rest.slice(0, end))].filter((text) => !text.startsWith('```'))
      examples.push({ line: first + at, code: code.join('\n').trimEnd() })
    }
  }
  return examples
}
