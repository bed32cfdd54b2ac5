import type { Command, ReadArguments } from './arguments/command.ts'
import { accountCommands } from './declarations/accountCommands.ts'
import { devCommands } from './declarations/devCommands.ts'
import { endpointCommands } from './declarations/endpointCommands.ts'
import { serviceCommands } from './declarations/serviceCommands.ts'
import { help, json } from './sharedOptions.ts'

/** Commands with a title, for the help. */
export interface CommandGroup {
  readonly title: string
  readonly commands: readonly Command[]
}

const otherCommands: readonly Command[] = [
  {
    name: 'completion',
    usage: 'completion bash | zsh | fish',
    about: 'Print a shell completion script.',
    actions: [
      ['bash', 'source <(keyrail completion bash) in ~/.bashrc'],
      ['zsh', 'source <(keyrail completion zsh) in ~/.zshrc, after compinit'],
      ['fish', 'keyrail completion fish > ~/.config/fish/completions/keyrail.fish'],
    ],
    options: { json, help },
    notes: [],
    run: async (given: ReadArguments) => (await import('./commands/completion.ts')).completion(given, commands),
  },
]

/** Every command, in the order of the help. The implementation is imported when the command runs, which keeps the start fast. */
export const commandGroups: readonly CommandGroup[] = [
  { title: 'Local development', commands: devCommands },
  { title: 'Calls and data', commands: endpointCommands },
  { title: 'Apps and keys', commands: accountCommands },
  { title: 'Your own service', commands: serviceCommands },
  { title: 'Other commands', commands: otherCommands },
]

/** Every command, in the order of {@link commandGroups}. */
export const commands: readonly Command[] = commandGroups.flatMap((group) => group.commands)
