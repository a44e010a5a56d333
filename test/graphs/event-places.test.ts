import { expect, test } from 'vitest';
import { graphOfTask, ToolTasks } from '../../src/graphs/runtime/event-places.ts';

const TASK = 'inner:1|look:2';

test('an event whose namespace is its task, as before LangGraph 1.7, belongs to the graph of the task', () => {
  expect(graphOfTask(['inner:1', 'look:2'], TASK)).toEqual(['inner:1']);
  expect(graphOfTask(['look:2'], 'look:2')).toEqual([]);
});

test('an event whose namespace is a graph, as of LangGraph 1.7, belongs to that graph', () => {
  expect(graphOfTask(['inner:1'], TASK)).toEqual(['inner:1']);
  expect(graphOfTask([], 'look:2')).toEqual([]);
});

test('each tool call has its own task, even next to others in a node that contains a graph', () => {
  const tasks = new ToolTasks();
  const started = (id: string, langgraph_checkpoint_ns: string) =>
    tasks.handleToolStart({}, '', 'run', undefined, [], { langgraph_checkpoint_ns }, 'search', id);
  started('within', TASK);
  started('beside', 'inner:1');
  expect(tasks.graphOf(['inner:1', 'look:2'], { toolCallId: 'within' })).toEqual(['inner:1']);
  expect(tasks.graphOf(['inner:1'], { toolCallId: 'within' })).toEqual(['inner:1']);
  expect(tasks.graphOf(['inner:1'], { toolCallId: 'beside' })).toEqual([]);
  expect(tasks.graphOf([], { toolCallId: 'beside' })).toEqual([]);
});
