import { useQuery } from '@tanstack/react-query';
import type { ComponentProps } from 'react';
import { assistantName, assistantsQuery } from '../api/assistants.ts';
import { Select } from './fields.tsx';

/** A select for one assistant or any. */
export function AssistantSelect(props: Omit<ComponentProps<typeof Select>, 'options'>) {
  const { data: assistants = [] } = useQuery(assistantsQuery);
  const options = assistants.map((each) => [each.assistant_id, assistantName(each)] as const);
  return <Select {...props} options={[['', 'Any assistant'], ...options]} />;
}
