/** A template: a folder in `templates/`. */
export interface Template {
  readonly name: string
  readonly about: string
  /** The env file that its tools read. Git ignores it. */
  readonly envFile: string
  /** The prefix of its environment variables. Vite passes only variables with its prefix to a page. */
  readonly envPrefix: string
  /** Further lines of the env file. */
  readonly envLines?: readonly string[]
  /** The script that runs it. */
  readonly run: string
}

/** Every template, in the order of the help. */
export const templates: readonly Template[] = [
  {
    name: 'react-wagmi',
    about: 'a page with React and wagmi (Vite)',
    envFile: '.env.local',
    envPrefix: 'VITE_',
    run: 'npm run dev',
  },
  {
    name: 'next',
    about: 'a Next.js app whose key stays on the server',
    envFile: '.env.local',
    envPrefix: '',
    envLines: [
      "# Origins of other pages that may call the app's route, separated by commas. Its own pages always may.",
      'ORIGINS=',
    ],
    run: 'npm run dev',
  },
  { name: 'node', about: 'a script for Node', envFile: '.env', envPrefix: '', run: 'npm start' },
]
