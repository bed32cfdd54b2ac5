import { join } from 'node:path'
import ts from 'typescript'
import { top } from './run.ts'

const options = (): ts.CompilerOptions => {
  const { config } = ts.readConfigFile(join(top, 'tsconfig.base.json'), (file) => ts.sys.readFile(file)) as {
    config: object
  }
  return { ...ts.parseJsonConfigFileContent(config, ts.sys, top).options, types: [] }
}

/** Creates a compiler host that parses each file once for all packages, because most packages import the same files. */
const createHost = (): ts.CompilerHost => {
  const host = ts.createCompilerHost(options())
  const files = new Map<string, ts.SourceFile | undefined>()
  return {
    ...host,
    getSourceFile: (name, version, ...rest) => {
      // A file is parsed differently as a module of another format.
      const { impliedNodeFormat } = typeof version === 'object' ? version : {}
      const key = `${impliedNodeFormat} ${name}`
      if (!files.has(key)) files.set(key, host.getSourceFile(name, version, ...rest))
      return files.get(key)
    },
  }
}
let host: ts.CompilerHost | undefined

/**
 * Finds the exports of a module that have no docblock.
 * @param index - The file of the module.
 * @returns The names of the exports, in source order.
 */
export function findUndocumentedExports(index: string): string[] {
  host ??= createHost()
  const program = ts.createProgram([index], options(), host)
  const checker = program.getTypeChecker()
  const file = program.getSourceFile(index)
  const moduleSymbol = file && checker.getSymbolAtLocation(file)
  if (!moduleSymbol) throw new Error(`${index} is not a module`)
  return checker
    .getExportsOfModule(moduleSymbol)
    .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol))
    .filter((symbol) => symbol.getDocumentationComment(checker).length === 0)
    .map((symbol) => symbol.name)
}
