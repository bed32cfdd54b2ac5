import { join } from 'node:path'
import ts from 'typescript'
import { top } from './run.ts'

const options = (): ts.CompilerOptions => {
  const { config } = ts.readConfigFile(join(top, 'tsconfig.base.json'), (file) => ts.sys.readFile(file)) as {
    config: object
  }
  return { ...ts.parseJsonConfigFileContent(config, ts.sys, top).options, types: [] }
}

/** Reads each file once for all packages: most of them import the same ones. */
const makeHost = (): ts.CompilerHost => {
  const host = ts.createCompilerHost(options())
  const files = new Map<string, ts.SourceFile | undefined>()
  return {
    ...host,
    getSourceFile: (name, version, ...rest) => {
      // The same file is read otherwise as a module of another kind.
      const { impliedNodeFormat } = typeof version === 'object' ? version : {}
      const key = `${impliedNodeFormat} ${name}`
      if (!files.has(key)) files.set(key, host.getSourceFile(name, version, ...rest))
      return files.get(key)
    },
  }
}
let host: ts.CompilerHost | undefined

/**
 * Finds what a module exports without a docblock.
 * @param index - The module's file.
 * @returns The names, in the order of their export.
 */
export function undocumentedExports(index: string): string[] {
  host ??= makeHost()
  const program = ts.createProgram([index], options(), host)
  const checker = program.getTypeChecker()
  const file = program.getSourceFile(index)
  const door = file && checker.getSymbolAtLocation(file)
  if (!door) throw new Error(`${index} is not a module`)
  return checker
    .getExportsOfModule(door)
    .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol))
    .filter((symbol) => symbol.getDocumentationComment(checker).length === 0)
    .map((symbol) => symbol.name)
}
