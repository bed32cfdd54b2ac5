import { dirname, join } from 'node:path'
import ts from 'typescript'

/**
 * Type-checks a project with TypeScript 6, and returns the errors in the project's folder, including its packages. Packages that are linked from
 * outside are not checked: that takes several times as long, and their errors are ignored anyway.
 * @param configFile - The project's tsconfig, with `files`.
 * @returns One line per error.
 */
export function compileOurs(configFile: string): string[] {
  const folder = dirname(configFile)
  const { config, error } = ts.readConfigFile(configFile, (file) => ts.sys.readFile(file))
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(config, ts.sys, folder)
  const program = ts.createProgram(fileNames, options)
  const ours = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(join(folder, '/')))
  const problems = [
    ...(error ? [error] : []),
    ...errors,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...ours.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]),
  ]
  return problems.map(({ file, start = 0, messageText }) => {
    const line = file ? `${file.fileName}:${file.getLineAndCharacterOfPosition(start).line + 1}: ` : ''
    return `${line}${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}
