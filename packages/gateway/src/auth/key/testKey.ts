/** What a rehearsal key brings about. */
export type TestKey = '401' | '429' | 'quota' | 'slow'
