// Prints the shell commands that install the programs that tests need and this machine lacks: `npm run programs`.
import { getInstallCommands } from './externalPrograms.ts'

const commands = getInstallCommands()
console.log(commands.length > 0 ? commands.join('\n') : '# Every program is there.')
