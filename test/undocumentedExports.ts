import { join } from 'node:path'
import ts from 'typescript'
import { top } from './run.ts'

/**
 * Finds what a module exports without a docblock.
 * @param index - The module's file.
 * @returns The names, in the order of their export.
 */
export function undocumentedExports(index: string): string[] {
  const { config } = ts.readConfigFile(join(top, 'tsconfig.base.json'), (file) => ts.sys.readFile(file)) as {
    config: object
  }
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, top)
  const program = ts.createProgram([index], { ...options, types: [] })
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
