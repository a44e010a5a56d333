import './styles.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/query-client.ts';
import { router } from './router.tsx';
import { followTheme } from './theme.ts';

// See load-again.js.
dispatchEvent(new Event('studio-started'));
followTheme();
// Its href is relative and would resolve differently in views at another depth.
const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
if (icon) icon.setAttribute('href', icon.href);
const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
