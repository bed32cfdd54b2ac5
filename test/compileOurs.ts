import { dirname, join } from 'node:path'
import ts from 'typescript'

/**
 * Checks a project by TypeScript 6, and tells the faults of the project's own folder, the packages in it included. What is linked into it
 * from elsewhere is read, but not checked: that takes several times as long, and would be told of nobody here.
 * @param configFile - Its tsconfig, with `files`.
 * @returns A line for each fault.
 */
export function compileOurs(configFile: string): string[] {
  const folder = dirname(configFile)
  const { config, error } = ts.readConfigFile(configFile, (file) => ts.sys.readFile(file))
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(config, ts.sys, folder)
  const program = ts.createProgram(fileNames, options)
  const ours = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(join(folder, '/')))
  const faults = [
    ...(error ? [error] : []),
    ...errors,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...ours.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]),
  ]
  return faults.map(({ file, start = 0, messageText }) => {
    const line = file ? `${file.fileName}:${file.getLineAndCharacterOfPosition(start).line + 1}: ` : ''
    return `${line}${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}
